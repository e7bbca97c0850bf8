"""How many submissions a person or a team may send."""
