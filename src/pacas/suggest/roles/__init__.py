"""What columns are to the people in a table: who they name, whom they single out, what is nobody's business."""
