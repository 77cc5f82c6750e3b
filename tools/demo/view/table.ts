import type { Fleet } from '../fleet.js';
import { isOver, type Task } from '../follow.js';
import type { Screen } from './screen.js';
import { bar, fit, type Paint, type Style } from './text.js';

const COLOURS: Record<string, Style> = {
  PENDING: 'dim',
  ASSIGNED: 'cyan',
  RUNNING: 'cyan',
  COMPLETED: 'green',
  ABORTED: 'yellow',
  FAILED: 'red',
};

/** Shows the tasks of the job: a live table on a terminal, a line for each change elsewhere. */
export class TaskTable {
  private readonly known = new Map<string, string>();

  constructor(
    private readonly screen: Screen,
    private readonly paint: Paint,
    private readonly fleet: Fleet,
  ) {}

  show(tasks: readonly Task[]): void {
    if (this.screen.live) this.screen.draw(this.rows(tasks));
    else for (const task of tasks) this.tellChange(task);
  }

  /** Keeps the last state on the screen. */
  finish(tasks: readonly Task[]): void {
    this.show(tasks);
    this.screen.keep();
  }

  private rows(tasks: readonly Task[]): string[] {
    const done = tasks.filter(isOver).length;
    const head = `${fit('task', 27)}${fit('status', 11)}${fit('worker', 8)}progress`;
    return [
      '',
      this.paint('bold', head),
      ...tasks.map((task) => this.row(task)),
      this.paint('dim', `${done} of ${tasks.length} done`),
    ];
  }

  private row(task: Task): string {
    const { title, status, progressPercent } = task;
    const worker = status === 'ABORTED' ? '' : this.fleet.nameOf(task.agentId);
    const shown = [
      fit(title, 27),
      this.paint(COLOURS[status] ?? 'dim', fit(status, 11)),
      fit(worker, 8),
      this.paint(COLOURS[status] ?? 'dim', bar(progressPercent, 20)),
      ` ${String(progressPercent).padStart(3)} % `,
    ];
    return (
      shown.join('') + this.paint('dim', fit(detailOf(task), this.screen.width - 73).trimEnd())
    );
  }

  private tellChange(task: Task): void {
    const quarter = Math.floor(task.progressPercent / 25) * 25;
    const state = `${task.status} ${task.status === 'RUNNING' ? quarter : ''}`;
    if (this.known.get(task.id) === state) return;
    const isNew = !this.known.has(task.id);
    this.known.set(task.id, state);
    if (isNew && task.status === 'PENDING') return;
    const worker = this.fleet.nameOf(task.agentId);
    const percent = `${String(task.progressPercent).padStart(3)} %`;
    const line = `${fit(task.title, 27)}${fit(task.status, 11)}${fit(worker, 8)}${percent}  ${detailOf(task)}`;
    this.screen.say(fit(line, 118).trimEnd());
  }
}

function detailOf(task: Task): string {
  switch (task.status) {
    case 'PENDING':
      return task.unmetDependencies > 0
        ? `waits for ${task.unmetDependencies} tasks`
        : 'waits for a worker';
    case 'COMPLETED':
      return task.summary ?? '';
    case 'ABORTED':
      return `${task.abortReason ?? ''}${task.retryAt === null ? '' : ', to be retried'}`;
    case 'FAILED':
      return task.lastError ?? '';
    default:
      return task.currentStep ?? '';
  }
}
