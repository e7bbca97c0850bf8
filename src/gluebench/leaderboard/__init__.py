"""The leaderboard: a Django project that takes submissions, grades them in the background and shows them."""
