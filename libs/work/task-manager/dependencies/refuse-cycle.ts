import { firstRow, type Transaction } from '#lib/database';
import { DroverError } from '#lib/kernel';
import { findWay } from '../domain/dependencies.js';
import { edgesBehind, waitsFor } from '../store/dependency-edges.sql.js';

/**
 * Maximum number of edges that are read for the path of a cycle. A longer cycle is reported by its
 * ends.
 */
const EDGES_READ = 200_000;

/**
 * Refuses new edges that would close a cycle. The transaction must hold its turn to change
 * dependencies (takeDependencyTurn).
 *
 * @throws DroverError `dependency_cycle`; `path` contains the ids from the task back to itself
 */
export async function refuseCycle(
  tx: Transaction,
  workspaceId: string,
  edges: { taskId: string; dependsOn: readonly string[] },
): Promise<void> {
  const { taskId, dependsOn } = edges;
  if (dependsOn.length === 0) return;
  const closes = await firstRow(tx, waitsFor, [workspaceId, dependsOn, taskId]);
  if (!closes?.found) return;
  const behind = await tx.rows(edgesBehind, [workspaceId, dependsOn, EDGES_READ]);
  const pairs = behind.map((edge) => [edge.task_id, edge.depends_on_id] as const);
  const way = findWay(pairs, dependsOn, taskId) ?? [taskId];
  throw new DroverError('dependency_cycle', {
    detail:
      way.length === 1
        ? 'A task cannot wait for itself.'
        : `The task would wait for itself through ${way.length - 1} other tasks.`,
    members: { path: [taskId, ...way] },
  });
}
