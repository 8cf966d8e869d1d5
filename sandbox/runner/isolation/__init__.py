"""What a process gives up before it becomes a judged program: users, files, system calls."""
