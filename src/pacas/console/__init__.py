"""The provider's console: pages for its operators, beside the service that they watch. Loaded only where asked for."""
