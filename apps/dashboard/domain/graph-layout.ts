import { Graph, layout } from '@dagrejs/dagre';

export interface GraphEdge {
  /** The node that comes first. */
  from: string;
  to: string;
}

/** The size of a node in pixels. */
export const NODE = { width: 210, height: 60 };

/**
 * Places nodes from left to right, each after its predecessors. Cycles are laid out as well.
 *
 * @param edges edges between these IDs only
 * @returns the upper left corner of each node in pixels
 */
export function layoutGraph(
  ids: readonly string[],
  edges: readonly GraphEdge[],
): Map<string, { x: number; y: number }> {
  const graph = new Graph();
  graph.setGraph({ rankdir: 'LR', nodesep: 16, ranksep: 60 });
  graph.setDefaultEdgeLabel(() => ({}));
  for (const id of ids) graph.setNode(id, { ...NODE });
  for (const { from, to } of edges) graph.setEdge(from, to);
  layout(graph);
  return new Map(
    ids.map((id) => {
      const { x = 0, y = 0 } = graph.node(id) as { x?: number; y?: number };
      return [id, { x: x - NODE.width / 2, y: y - NODE.height / 2 }];
    }),
  );
}
