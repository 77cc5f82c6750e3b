-- Standing instructions of a project for its coding agents. Servers of the version before leave them empty.
ALTER TABLE projects ADD COLUMN instructions text CHECK (length(instructions) BETWEEN 1 AND 20000);
