"""Part three: what is kept while writing."""
