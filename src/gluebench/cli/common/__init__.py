"""What commands share: options, inputs, errors, and the printing of tables."""
