import { basename } from 'node:path';
import { RETRY_BACKOFF_SECONDS } from './settings.js';
import { built } from '#lib/kernel';
import type { components } from '#lib/api-client';

interface PlannedTask {
  ref: string;
  title: string;
  taskType: string;
  capability: string;
  priority?: number;
  after?: string[];
  args?: string[];
  /** The program in tools/demo/jobs, if its name differs from the task's. */
  program?: string;
}

const READERS = ['lines', 'functions', 'tests', 'imports', 'links', 'sizes'];
const RESULTS = ['list', 'licences', 'types-kernel', 'types-local-servers', 'hash', 'duplicates'];

/** The graph: the steps for the folder, their order, and their workers. */
export const TASKS: readonly PlannedTask[] = [
  { ref: 'list', title: 'List the files', taskType: 'list', capability: 'read', priority: 10 },
  {
    ref: 'hash',
    title: 'Hash files and packages',
    taskType: 'hash',
    capability: 'hash',
    priority: 9,
    after: ['list'],
  },
  checked('platform/kernel'),
  checked('dev/local-servers'),
  reader('lines', 'Count lines by language'),
  reader('functions', 'Find the longest functions'),
  reader('tests', 'Count the tests'),
  reader('imports', 'Follow the imports'),
  reader('links', 'Try the links of the docs'),
  reader('sizes', 'Weigh the files'),
  {
    ref: 'licences',
    title: 'List the licences',
    taskType: 'read',
    capability: 'read',
    priority: 4,
  },
  {
    ref: 'archive',
    title: 'Build the archive',
    taskType: 'archive',
    capability: 'archive',
    priority: 6,
    after: ['list'],
  },
  {
    ref: 'verify',
    title: 'Verify the archive',
    taskType: 'archive',
    capability: 'archive',
    after: ['archive'],
  },
  {
    ref: 'duplicates',
    title: 'Find duplicates',
    taskType: 'read',
    capability: 'read',
    after: ['hash'],
  },
  {
    ref: 'report',
    title: 'Join the results',
    taskType: 'report',
    capability: 'read',
    after: [...RESULTS, ...READERS, 'archive', 'verify'],
  },
];

function reader(ref: string, title: string): PlannedTask {
  return { ref, title, taskType: 'read', capability: 'read', after: ['list'] };
}

function checked(library: string): PlannedTask {
  return {
    ref: `types-${basename(library)}`,
    title: `Type-check libs/${library}`,
    taskType: 'types',
    capability: 'compile',
    priority: 8,
    program: 'typecheck',
    args: [library],
  };
}

export interface JobPlace {
  projectId: string;
  root: string;
  shared: string;
}

/** The body of one request to the batch endpoint: the tasks name each other by their refs. */
export function jobRequest(place: JobPlace): components['schemas']['CreateTasks'] {
  return {
    tasks: TASKS.map((task) => ({
      ref: task.ref,
      title: task.title,
      taskType: task.taskType,
      projectId: place.projectId,
      priority: task.priority ?? 5,
      requiredCapabilities: [task.capability],
      dependsOn: (task.after ?? []).map((ref) => ({ ref })),
      maxRetries: 2,
      retryBackoffSeconds: RETRY_BACKOFF_SECONDS,
      timeoutSeconds: 120,
      tags: ['demo'],
      inputContext: {
        command: [
          process.execPath,
          built(`tools/demo/jobs/${task.program ?? task.ref}.js`),
          ...(task.args ?? []),
        ],
        env: { DEMO_ROOT: place.root, DEMO_SHARED: place.shared },
      },
    })),
  };
}
