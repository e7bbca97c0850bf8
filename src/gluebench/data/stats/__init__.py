"""What a benchmark's examples are like: sizes, labels, lengths, words, and the paper's Tables 1 and 7."""
