import { Link } from '@tanstack/react-router';
import {
  Background,
  Controls,
  type Edge,
  Handle,
  MarkerType,
  type Node,
  type NodeProps,
  Position,
  ReactFlow,
} from '@xyflow/react';
import { useMemo } from 'react';
import type { components } from '#lib/api-client';
import { useRead } from '../api/read.js';
import { stripControls } from '../domain/format.js';
import { layoutGraph, NODE } from '../domain/graph-layout.js';
import type { Task } from '../domain/status.js';
import { Badge } from './badge.js';
import { Loaded, Panel } from './parts.js';
import '@xyflow/react/dist/base.css';
import '../styles/graph.css';

type Graph = components['schemas']['TaskGraph'];
type GraphTask = components['schemas']['GraphTask'];
type TaskNode = Node<{ task: GraphTask; isSelf: boolean }, 'task'>;

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
    <Panel title="Dependencies" flush>
      <Loaded query={graph}>{(data) => <Drawing self={task} graph={data} />}</Loaded>
    </Panel>
  );
}

const NODE_TYPES = { task: TaskBox };

function Drawing({ self, graph }: { self: Task; graph: Graph }) {
  const { nodes, edges } = useMemo(() => toFlow(graph, self), [graph, self]);
  return (
    <div className="graph" role="group" aria-label="Dependency graph">
      <div className="graph-frame">
        <ReactFlow
          // Other tasks need another view. Changed statuses keep the view of the user.
          key={nodes.map(({ id }) => id).join()}
          nodes={nodes}
          edges={edges}
          nodeTypes={NODE_TYPES}
          nodesDraggable={false}
          nodesConnectable={false}
          nodesFocusable={false}
          edgesFocusable={false}
          elementsSelectable={false}
          // The wheel scrolls the page.
          zoomOnScroll={false}
          preventScrolling={false}
          minZoom={0.1}
          maxZoom={2}
          fitView
          fitViewOptions={{ maxZoom: 1, padding: 0.05 }}
          proOptions={{ hideAttribution: true }}
        >
          <Background gap={20} />
          <Controls showInteractive={false} position="top-right" />
        </ReactFlow>
      </div>
      {graph.truncated && <p className="muted graph-note">Only the nearest tasks are shown.</p>}
    </div>
  );
}

function toFlow(graph: Graph, self: Task): { nodes: TaskNode[]; edges: Edge[] } {
  const edges = graph.edges.map(({ taskId, dependsOnId }) => ({ from: dependsOnId, to: taskId }));
  const positions = layoutGraph(
    graph.tasks.map(({ taskId }) => taskId),
    edges,
  );
  return {
    nodes: graph.tasks.map((task) => {
      const isSelf = task.taskId === self.id;
      const shown = isSelf ? { ...task, title: self.title, status: self.status } : task;
      return {
        id: task.taskId,
        type: 'task',
        position: positions.get(task.taskId) ?? { x: 0, y: 0 },
        data: { task: shown, isSelf },
        ...NODE,
      };
    }),
    edges: edges.map(({ from, to }) => ({
      id: `${from} ${to}`,
      source: from,
      target: to,
      markerEnd: { type: MarkerType.ArrowClosed },
    })),
  };
}

function TaskBox({ data: { task, isSelf } }: NodeProps<TaskNode>) {
  const title = stripControls(task.title);
  return (
    <>
      <Handle type="target" position={Position.Left} isConnectable={false} />
      <div className={`graph-task ${isSelf ? 'self' : ''}`} title={title}>
        {isSelf ? (
          <strong className="clip">{title}</strong>
        ) : (
          // React Flow drags the view from everywhere else.
          <Link to="/tasks/$id" params={{ id: task.taskId }} className="clip nopan">
            {title}
          </Link>
        )}
        <Badge state={task.status} />
      </div>
      <Handle type="source" position={Position.Right} isConnectable={false} />
    </>
  );
}
