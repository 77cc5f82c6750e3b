import { Injectable } from '@nestjs/common';
import { Database, firstRow } from '#lib/database';
import { ValkeyClient } from '#lib/valkey';
import { viewKeys, type ViewKey } from './view-keys.js';
import { readTaskViews, readWorkspaceViews } from './read-views.sql.js';
import {
  readReportedTasks,
  type ReportedTask,
  readViewBegin,
  TASK_SECONDS,
} from './reported-tasks.sql.js';

/** The position of the keys in the ledger. Valkey loses it, or sets it back, with the keys. */
const POSITION_KEY = 'usage:position';
/** The maximum number of reports in one batch. */
const BATCH_SIZE = 2_000;

/** Writes each key anew. Nothing is written if another server has moved the position. */
const WRITE = `
local expected, position, seconds = ARGV[1], ARGV[2], ARGV[3]
if expected ~= '*' and (redis.call('get', KEYS[1]) or '') ~= expected then return 0 end
for i = 2, #KEYS do
  local kind, values, expiry = unpack(ARGV, 3 * i - 2, 3 * i)
  values = cjson.decode(values)
  redis.call('del', KEYS[i])
  if #values > 0 then
    redis.call(kind, KEYS[i], unpack(values))
    redis.call('expire', KEYS[i], expiry)
  end
end
if expected ~= '*' then redis.call('set', KEYS[1], position, 'EX', seconds) end
return 1`;
/** Reports of this time are read again if the position is lost. */
const POSITION_SECONDS = 86_400;

/** The result of one round. `caught_up`: keys are as new as the sums; `away`: Valkey is down. */
export type ViewResult = 'caught_up' | 'more' | 'away';

/**
 * Keeps a view of usage in Valkey for quick readers. The keys are made from Postgres and hold no
 * fact. Their position lies beside them, so lost keys are made again from the reports of the last
 * day.
 */
@Injectable()
export class UsageView {
  constructor(
    private readonly database: Database,
    private readonly valkey: ValkeyClient,
  ) {}

  /**
   * Brings the keys up to the position of the sums, at most one batch. Valkey never makes it throw.
   */
  async round(rolledUp: string): Promise<ViewResult> {
    const at = await this.valkey.attempt((commands) => commands.get(POSITION_KEY));
    if (at.kind !== 'done') return 'away';
    if (at.value === rolledUp) return 'caught_up';
    const from = at.value ?? (await firstRow(this.database.service, readViewBegin))?.position;
    const rows = await this.database.service.rows(readReportedTasks, [from ?? '0', BATCH_SIZE]);
    const position = rows[0]?.position ?? rolledUp;
    const tasks = rows
      .filter((row): row is typeof row & ReportedTask => row.task_id !== null)
      // Old usage of a task counts for its workspace alone.
      .map((row) => (row.seconds > 0 ? row : { ...row, task_id: null }));
    const written = await this.write(tasks, { expected: at.value ?? '', position });
    if (!written) return 'away';
    return BigInt(position) < BigInt(rolledUp) ? 'more' : 'caught_up';
  }

  /** Rewrites the keys of these tasks and their workspaces after a change of their budgets. */
  async refresh(tasks: readonly Refreshed[]): Promise<void> {
    await this.write(tasks, { expected: '*', position: '' });
  }

  private async write(tasks: readonly Refreshed[], move: Move): Promise<boolean> {
    const keys = await this.keysOf(tasks);
    const names = [POSITION_KEY, ...keys.map(({ key }) => key)];
    const values = keys.flatMap((key) => [key.kind, JSON.stringify(key.values), `${key.seconds}`]);
    const args = [move.expected, move.position, `${POSITION_SECONDS}`, ...values];
    const sent = await this.valkey.change((commands) =>
      commands.eval(WRITE, names.length, ...names, ...args),
    );
    return sent.kind === 'done';
  }

  private async keysOf(changed: readonly Refreshed[]): Promise<ViewKey[]> {
    const { service } = this.database;
    const workspaces = [...new Set(changed.map((each) => each.workspace_id))];
    const tasks = changed.filter((each) => each.task_id !== null);
    const params = [tasks.map((each) => each.workspace_id), tasks.map((each) => each.task_id)];
    const seconds = new Map(tasks.map((each) => [each.task_id, each.seconds]));
    return viewKeys(
      workspaces.length === 0 ? [] : await service.rows(readWorkspaceViews, [workspaces]),
      tasks.length === 0 ? [] : await service.rows(readTaskViews, params),
      (id) => seconds.get(id) ?? TASK_SECONDS,
    );
  }
}

/** A task whose keys are rewritten, or a workspace alone. */
interface Refreshed {
  workspace_id: string;
  task_id: string | null;
  /** The time for which the key of the task lives. */
  seconds?: number;
}

interface Move {
  /** The position that the keys must still have. With `*` any position is right, and it stays. */
  expected: string;
  position: string;
}
