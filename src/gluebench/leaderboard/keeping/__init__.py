"""What a site keeps and where: its folder, stored files, copies, archives and their integrity."""
