"""What belongs to a site besides the pages that MkDocs makes."""
