"""What `headway check` needs: targets found, imported, built, checked and reported."""
