import { useRouter } from '@tanstack/react-router';
import type { components } from '#lib/api-client';
import { useRead } from '../api/read.js';
import { stripControls } from '../domain/format.js';
import { layoutColumns } from '../domain/graph-layout.js';
import { LOOKS, type Task } from '../domain/status.js';
import { toLabel } from './badge.js';
import { Loaded, Panel } from './parts.js';

type Graph = components['schemas']['TaskGraph'];
type GraphTask = components['schemas']['GraphTask'];

const BOX = { width: 190, height: 40, gap: 10, between: 60 };
/** Maximum number of tasks in a column. The task of the page is always one of them. */
const MAX_ROWS = 12;

/** The stream reports the task itself, but not its dependencies. */
const EVERY_MS = 10_000;

/** Draws the dependencies and dependents of the task from left to right. */
export function TaskGraph({ task }: { task: Task }) {
  const { id } = task;
  const graph = useRead(
    ['task', id, 'graph'],
    (api, signal) => {
      const params = { path: { id }, query: { limit: 100 } };
      return api.get('/api/v1/agent-tasks/{id}/dependencies/graph', { params, signal });
    },
    { every: EVERY_MS },
  );
  if (graph.data?.tasks.length === 1) return null;
  return (
    <Panel title="Dependencies">
      <Loaded query={graph}>{(data) => <Drawing self={task} graph={data} />}</Loaded>
    </Panel>
  );
}

interface Position {
  x: number;
  y: number;
}

function Drawing({ self, graph }: { self: Task; graph: Graph }) {
  const ids = graph.tasks.map(({ taskId }) => taskId);
  const edges = graph.edges.map(({ taskId, dependsOnId }) => ({ from: dependsOnId, to: taskId }));
  const columns = layoutColumns(ids, edges).map((column) => limitColumn(column, self.id));
  const rows = Math.max(...columns.map(({ length }) => length));
  const height = rows * (BOX.height + BOX.gap) + BOX.gap;
  const width = columns.length * (BOX.width + BOX.between) - BOX.between + 2;
  const positions = new Map(
    columns.flatMap((column, index) => positionColumn(column, index, height)),
  );
  const hidden = ids.length - positions.size;
  return (
    <div className="graph" tabIndex={0} role="group" aria-label="Dependency graph">
      <svg width={width} height={height} viewBox={`0 0 ${width} ${height}`}>
        {edges.map(({ from, to }) => {
          const [start, end] = [positions.get(from), positions.get(to)];
          return start && end && <Edge key={`${from} ${to}`} from={start} to={end} />;
        })}
        {graph.tasks.map((task) => {
          const position = positions.get(task.taskId);
          return position && <Node key={task.taskId} task={task} position={position} self={self} />;
        })}
      </svg>
      {(hidden > 0 || graph.truncated) && (
        <p className="muted">
          {graph.truncated
            ? 'Only the nearest tasks are shown.'
            : `${hidden} more tasks are not shown.`}
        </p>
      )}
    </div>
  );
}

function limitColumn(column: string[], self: string): string[] {
  const drawn = column.slice(0, MAX_ROWS);
  if (column.includes(self) && !drawn.includes(self)) drawn[MAX_ROWS - 1] = self;
  return drawn;
}

function positionColumn(column: string[], index: number, height: number): [string, Position][] {
  const all = column.length * (BOX.height + BOX.gap) - BOX.gap;
  const x = 1 + index * (BOX.width + BOX.between);
  return column.map((id, row) => [id, { x, y: (height - all) / 2 + row * (BOX.height + BOX.gap) }]);
}

function Node({ task, position, self }: { task: GraphTask; position: Position; self: Task }) {
  const router = useRouter();
  const { taskId, title, status } = task;
  if (taskId === self.id) {
    return (
      <g className="self">
        <Box position={position} title={self.title} status={self.status} />
      </g>
    );
  }
  const target = { to: '/tasks/$id', params: { id: taskId } } as const;
  return (
    <a
      href={router.buildLocation(target).href}
      onClick={(event) => {
        if (event.metaKey || event.ctrlKey || event.shiftKey) return;
        event.preventDefault();
        void router.navigate(target);
      }}
    >
      <Box position={position} title={title} status={status} />
    </a>
  );
}

function Box({
  position: { x, y },
  title,
  status,
}: {
  position: Position;
  title: string;
  status: string;
}) {
  const plain = stripControls(title);
  return (
    <g transform={`translate(${x} ${y})`}>
      <rect width={BOX.width} height={BOX.height} rx="6" />
      <text x="10" y="17">
        {plain.length > 26 ? `${plain.slice(0, 25)}…` : plain}
      </text>
      <text x="10" y="32" className={`ink-text ink-${LOOKS[status]?.tone ?? 'gray'}`}>
        {toLabel(status)}
      </text>
    </g>
  );
}

function Edge({ from, to }: { from: Position; to: Position }) {
  const [x1, y1] = [from.x + BOX.width, from.y + BOX.height / 2];
  const [x2, y2] = [to.x, to.y + BOX.height / 2];
  const middle = (x1 + x2) / 2;
  return <path d={`M${x1} ${y1}C${middle} ${y1} ${middle} ${y2} ${x2} ${y2}`} />;
}
