import { blankOf } from '../domain/blank.js';
import type { NewTask } from '../domain/new-task.js';
import { timesOf } from '../domain/task-times.js';
import { GIVEN, type GivenField } from '../domain/task-fields.js';
import type { TaskRow, TaskView } from '../domain/task-view.js';
import { SHOWN_FIELDS } from '../store/task-columns.sql.js';

export interface Created {
  workspaceId: string;
  createdBy: string | null;
  at: Date;
  unmet: number;
  settled: (id: string) => boolean;
  /** The tasks of the same request that depend on this one. */
  blocks: readonly string[];
}

type Nullable = keyof {
  [Field in keyof TaskRow as null extends TaskRow[Field] ? Field : never]: 0;
};

const NOTHING = Object.fromEntries(SHOWN_FIELDS.map((field) => [field, null])) as {
  [Field in Nullable]: null;
};

const BLANK = blankOf({
  ...NOTHING,
  status: 'PENDING',
  progressPercent: 0,
  retryCount: 0,
  dependsOn: [],
  blocks: [],
  dependencies: [],
  checkpointData: {},
  tags: [],
  version: 1,
  generation: 0,
} as const);

/** The answer of GET for a task that was just created, without asking. */
export function viewOfNewTask(task: NewTask, created: Created): TaskView {
  const { edges } = task;
  const at = created.at.toISOString();
  const view = {
    ...BLANK,
    id: task.id,
    workspaceId: created.workspaceId,
    createdBy: created.createdBy,
    parentTaskId: task.parentTaskId ?? null,
    scheduleId: task.scheduleId ?? null,
    scheduledFor: task.scheduledFor ?? null,
    dependsOn: edges.map((edge) => edge.dependsOnId),
    blocks: [...created.blocks].sort(),
    unmetDependencies: created.unmet,
    dependencies: edges.map(({ dependsOnId, policy }) => ({
      taskId: dependsOnId,
      policy,
      settled: created.settled(dependsOnId),
    })),
    tags: [...task.tags].sort(),
    ...timesOf(task, created.at),
    createdAt: at,
    updatedAt: at,
    readyAt: created.unmet === 0 ? at : null,
  };
  return withGiven(view, task);
}

function withGiven<View extends object>(
  view: View,
  task: NewTask,
): View & Pick<NewTask, GivenField> {
  const target = view as Record<string, unknown>;
  for (const field of GIVEN) if (task[field] !== undefined) target[field] = task[field];
  return view as ReturnType<typeof withGiven<View>>;
}
