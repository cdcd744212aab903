"""What a page shows in the place of something that is still being computed."""

# The mark by which `workshop serve` knows a site that is not whole.
MARK = "data-pending"
PENDING = (
    f'<p class="hw-pending" {MARK}>'
    "This is being computed; the page reloads when it is done.</p>"
)
