"""What a provider's people lose by free quotes and by dependencies, measured by an attacker who knows half of them."""
