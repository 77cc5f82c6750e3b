import { useRouter } from '@tanstack/react-router';
import type { components } from '#lib/api-client';
import { useRead } from '../api/read.js';
import { plainOf } from '../domain/format.js';
import { columnsOf } from '../domain/graph-layout.js';
import { LOOKS, type Task } from '../domain/status.js';
import { wordOf } from './badge.js';
import { Loaded, Panel } from './parts.js';

type Graph = components['schemas']['TaskGraph'];
type GraphTask = components['schemas']['GraphTask'];

const BOX = { width: 190, height: 40, gap: 10, between: 60 };
/** Tasks in a column; the one that is shown is always among them. */
const DRAWN = 12;

/** The stream tells of the task itself, and not of those around it. */
const EVERY_MS = 10_000;

/** All that the task waits for, and all that waits for it, drawn from left to right. */
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

interface Placed {
  x: number;
  y: number;
}

function Drawing({ self, graph }: { self: Task; graph: Graph }) {
  const ids = graph.tasks.map(({ taskId }) => taskId);
  const edges = graph.edges.map(({ taskId, dependsOnId }) => ({ from: dependsOnId, to: taskId }));
  const columns = columnsOf(ids, edges).map((column) => drawnOf(column, self.id));
  const rows = Math.max(...columns.map(({ length }) => length));
  const height = rows * (BOX.height + BOX.gap) + BOX.gap;
  const width = columns.length * (BOX.width + BOX.between) - BOX.between + 2;
  const places = new Map(columns.flatMap((column, index) => placesOf(column, index, height)));
  const hidden = ids.length - places.size;
  return (
    <div className="graph" tabIndex={0} role="group" aria-label="Graph of dependencies">
      <svg width={width} height={height} viewBox={`0 0 ${width} ${height}`}>
        {edges.map(({ from, to }) => {
          const [start, end] = [places.get(from), places.get(to)];
          return start && end && <Edge key={`${from} ${to}`} from={start} to={end} />;
        })}
        {graph.tasks.map((task) => {
          const place = places.get(task.taskId);
          return place && <Node key={task.taskId} task={task} place={place} self={self} />;
        })}
      </svg>
      {(hidden > 0 || graph.truncated) && (
        <p className="muted">
          {graph.truncated
            ? 'The nearest tasks are drawn; there are more.'
            : `${hidden} more are not drawn.`}
        </p>
      )}
    </div>
  );
}

function drawnOf(column: string[], self: string): string[] {
  const drawn = column.slice(0, DRAWN);
  if (column.includes(self) && !drawn.includes(self)) drawn[DRAWN - 1] = self;
  return drawn;
}

function placesOf(column: string[], index: number, height: number): [string, Placed][] {
  const all = column.length * (BOX.height + BOX.gap) - BOX.gap;
  const x = 1 + index * (BOX.width + BOX.between);
  return column.map((id, row) => [id, { x, y: (height - all) / 2 + row * (BOX.height + BOX.gap) }]);
}

function Node({ task, place, self }: { task: GraphTask; place: Placed; self: Task }) {
  const router = useRouter();
  const { taskId, title, status } = task;
  if (taskId === self.id) {
    return (
      <g className="self">
        <Box place={place} title={self.title} status={self.status} />
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
      <Box place={place} title={title} status={status} />
    </a>
  );
}

function Box({ place: { x, y }, title, status }: { place: Placed; title: string; status: string }) {
  const plain = plainOf(title);
  return (
    <g transform={`translate(${x} ${y})`}>
      <rect width={BOX.width} height={BOX.height} rx="6" />
      <text x="10" y="17">
        {plain.length > 26 ? `${plain.slice(0, 25)}…` : plain}
      </text>
      <text x="10" y="32" className={`ink-text ink-${LOOKS[status]?.tone ?? 'gray'}`}>
        {wordOf(status)}
      </text>
    </g>
  );
}

function Edge({ from, to }: { from: Placed; to: Placed }) {
  const [x1, y1] = [from.x + BOX.width, from.y + BOX.height / 2];
  const [x2, y2] = [to.x, to.y + BOX.height / 2];
  const middle = (x1 + x2) / 2;
  return <path d={`M${x1} ${y1}C${middle} ${y1} ${middle} ${y2} ${x2} ${y2}`} />;
}
