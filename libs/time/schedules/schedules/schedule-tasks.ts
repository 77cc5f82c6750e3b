import { validateDto } from '#lib/http';
import { type BatchTaskDto, CreateTasksDto, type TaskTemplate } from '#lib/task-manager';

/**
 * The tasks of a template as POST /agent-tasks/batch accepts them. The schedule's name is the title
 * of tasks without one.
 *
 * @throws DroverError `validation_failed`
 */
export function tasksOf(name: string, template: readonly TaskTemplate[]): BatchTaskDto[] {
  const tasks = template.map((task) => ({ ...task, title: task['title'] ?? name }));
  return validateDto(CreateTasksDto, { tasks }).tasks;
}
