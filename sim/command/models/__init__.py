"""Commands about models of other tools and of language."""
