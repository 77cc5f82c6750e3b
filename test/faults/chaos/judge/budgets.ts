import type { Findings } from '../findings.js';
import { QUICK_TOKENS } from '../load/jobs.js';
import type { Budgets } from '../stage/budgets.js';
import type { ChaosPostgres } from '../stage/postgres.js';

interface Sums {
  allocated: string;
  reserved: string;
  reports: number;
  twice: string[];
}

/**
 * @returns the number of usage reports in the ledger
 */
export async function compareBudgets(
  postgres: ChaosPostgres,
  { allocated }: Budgets,
  findings: Findings,
): Promise<number> {
  const [sums] = await postgres.rows<Sums>(
    `SELECT sum(b.allocated) AS allocated, sum(b.reserved) AS reserved,
       (SELECT count(*)::int FROM agent_usage_logs) AS reports,
       ARRAY(SELECT r.id FROM task_runs r JOIN agent_tasks t ON t.workspace_id = r.workspace_id AND t.id = r.task_id
         WHERE t.task_type = 'chaos.quick' AND r.used_tokens > $1) AS twice
     FROM usage_budgets b`,
    [QUICK_TOKENS],
  );
  if (!sums) throw new Error('There are no budgets.');
  const moved = `${sums.allocated} tokens are allocated, of ${allocated}`;
  if (Number(sums.allocated) !== allocated) findings.add('moved_once', 'budgets', moved);
  // Needs the end of every task.
  const held = `hold ${sums.reserved} tokens for nobody`;
  if (sums.reserved !== '0') findings.add('given_back', 'budgets', held);
  for (const id of sums.twice) findings.add('counted_once', `run ${id}`, 'has used too much');
  return sums.reports;
}
