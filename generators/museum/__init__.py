"""What the museum shows of its exhibits, and what it asks of them."""
