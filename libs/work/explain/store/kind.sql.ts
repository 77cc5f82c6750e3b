/**
 * SQL: the name of the kind of a task, whose history estimates others of it: its type, or its
 * command if its type is `command`.
 */
export const kindOf = (task: string): string => `coalesce(${task}.command_kind, ${task}.task_type)`;
