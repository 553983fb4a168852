"""Ideas of different families together: every pair of them builds, trains and resumes."""
