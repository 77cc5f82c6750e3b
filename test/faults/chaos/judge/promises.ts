import type { Findings } from '../findings.js';
import type { Journal, Promised } from '../load/journal.js';
import type { ChaosPostgres } from '../stage/postgres.js';

interface Row {
  id: string;
  title: string;
  status: string;
  task_type: string;
  was_completed: boolean;
  completions: number;
}

const OVER = new Set(['COMPLETED', 'FAILED', 'ABORTED', 'ARCHIVED']);

/** Compares the answers to the clients with the database. */
export async function comparePromises(
  postgres: ChaosPostgres,
  journal: Journal,
  findings: Findings,
): Promise<Record<string, number>> {
  const rows = await postgres.rows<Row>(
    `SELECT t.id, t.title, t.status, t.task_type, t.completed_at IS NOT NULL AS was_completed,
       count(r.id) FILTER (WHERE r.state = 'COMPLETED')::int AS completions
     FROM agent_tasks t LEFT JOIN task_runs r ON r.workspace_id = t.workspace_id AND r.task_id = t.id
     GROUP BY t.workspace_id, t.id`,
  );
  const found = new Map(rows.map((row) => [row.id, row]));
  for (const [id, promised] of journal.tasks) {
    const row = found.get(id);
    if (!row) findings.add('acknowledged', `task ${id}`, `"${promised.key}" is not there`);
    else
      for (const problem of brokenBy(row, promised))
        findings.add('acknowledged', `task ${id}`, problem);
  }
  const titles = new Set<string>();
  for (const { id, title } of rows) {
    const isKnown = journal.tasks.has(id) || journal.unanswered.has(title);
    if (!isKnown)
      findings.add('made_once', `task ${id}`, `"${title}" is there, and nobody was told`);
    if (titles.has(title)) findings.add('made_once', `task ${id}`, `"${title}" is there twice`);
    titles.add(title);
  }
  return countsOf(journal, rows);
}

function countsOf(journal: Journal, rows: readonly Row[]): Record<string, number> {
  const counts: Record<string, number> = { acknowledged: journal.tasks.size, bySessions: 0 };
  for (const { status, task_type: type, was_completed: completed } of rows) {
    counts[status] = (counts[status] ?? 0) + 1;
    if (completed && type.startsWith('chaos.session'))
      counts['bySessions'] = (counts['bySessions'] ?? 0) + 1;
  }
  return counts;
}

function brokenBy(row: Row, promised: Promised): string[] {
  const { status, was_completed: wasCompleted, completions } = row;
  const broken = [
    [!OVER.has(status), `is ${status} in the end`],
    [promised.archived && status !== 'ARCHIVED', `was archived, and is ${status}`],
    [promised.completed && !wasCompleted, `was seen completed, and is ${status}`],
    [promised.cancelled && !promised.retried && wasCompleted, 'was cancelled, and completed'],
    [promised.cancelled && !promised.retried && !isAborted(row), `was cancelled, and is ${status}`],
    [completions !== (wasCompleted ? 1 : 0), `was completed by ${completions} runs`],
  ] as const;
  return broken.filter(([is]) => is).map(([, problem]) => problem);
}

function isAborted({ status, was_completed: wasCompleted }: Row): boolean {
  return status === 'ABORTED' || (status === 'ARCHIVED' && !wasCompleted);
}
