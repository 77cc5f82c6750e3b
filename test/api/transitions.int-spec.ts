import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { checkInvariants } from '#lib/invariants';
import { type ApiAnswer } from '../support/api-client.js';
import { soundServer, type TestServer, type TestWorkspace } from '../support/sound-server.js';
import {
  aSituation,
  type Situation,
  type SituationName,
  SITUATIONS,
} from './support/situations.js';

/** Tests every status with every command and report, over HTTP. */

const STATUSES = {
  PENDING: ['ASSIGNED', 'PAUSED', 'FAILED', 'ABORTED'],
  ASSIGNED: ['RUNNING', 'PENDING', 'PAUSED', 'COMPLETED', 'ABORTED'],
  RUNNING: ['PAUSED', 'COMPLETED', 'FAILED', 'ABORTED'],
  PAUSED: ['PENDING', 'RUNNING', 'COMPLETED', 'FAILED', 'ABORTED'],
  COMPLETED: ['ARCHIVED'],
  FAILED: ['PENDING', 'ARCHIVED'],
  ABORTED: ['PENDING', 'ABORTED', 'FAILED', 'ARCHIVED'],
  ARCHIVED: [],
};
type Status = keyof typeof STATUSES;

/**
 * The expected outcome: the new status; `same` if the task already has it; or the code of a
 * refusal.
 */
type Outcome = Status | 'same' | 'illegal_transition' | 'stale_run';

const COMMANDS = ['cancel', 'pause', 'resume', 'retry', 'archive'] as const;
const REPORTS = [
  'start',
  'progress',
  'checkpoint',
  'logs',
  'renew',
  'complete',
  'fail',
  'release',
] as const;

// oxfmt-ignore
const COMMANDED: Record<SituationName, readonly Outcome[]> = {
  //                            cancel                pause                 resume                retry                 archive
  'PENDING':                   ['ABORTED',            'PAUSED',             'same',               'illegal_transition', 'illegal_transition'],
  'ASSIGNED':                  ['ABORTED',            'PAUSED',             'same',               'illegal_transition', 'illegal_transition'],
  'RUNNING':                   ['ABORTED',            'PAUSED',             'same',               'illegal_transition', 'illegal_transition'],
  'RUNNING, its run STALE':    ['ABORTED',            'PAUSED',             'same',               'illegal_transition', 'illegal_transition'],
  'PAUSED, its run begun':     ['ABORTED',            'same',               'RUNNING',            'illegal_transition', 'illegal_transition'],
  'PAUSED, its run not begun': ['ABORTED',            'same',               'PENDING',            'illegal_transition', 'illegal_transition'],
  'PAUSED, put down':          ['ABORTED',            'same',               'PENDING',            'illegal_transition', 'illegal_transition'],
  'COMPLETED':                 ['illegal_transition', 'illegal_transition', 'illegal_transition', 'illegal_transition', 'ARCHIVED'],
  'FAILED':                    ['illegal_transition', 'illegal_transition', 'illegal_transition', 'PENDING',            'ARCHIVED'],
  'ABORTED':                   ['same',               'illegal_transition', 'illegal_transition', 'PENDING',            'ARCHIVED'],
  'ABORTED, to be retried':    ['ABORTED',            'illegal_transition', 'illegal_transition', 'PENDING',            'illegal_transition'],
  'ARCHIVED':                  ['illegal_transition', 'illegal_transition', 'illegal_transition', 'illegal_transition', 'same'],
};

// oxfmt-ignore
const REPORTED: Record<SituationName, readonly Outcome[]> = {
  //                            start                 progress     checkpoint   logs         renew        complete     fail         release
  'PENDING':                   ['stale_run',          'stale_run', 'stale_run', 'stale_run', 'stale_run', 'stale_run', 'stale_run', 'same'],
  'ASSIGNED':                  ['RUNNING',            'RUNNING',   'RUNNING',   'RUNNING',   'same',      'COMPLETED', 'ABORTED',   'PENDING'],
  'RUNNING':                   ['same',               'same',      'same',      'same',      'same',      'COMPLETED', 'ABORTED',   'ABORTED'],
  'RUNNING, its run STALE':    ['same',               'same',      'same',      'same',      'same',      'COMPLETED', 'ABORTED',   'ABORTED'],
  'PAUSED, its run begun':     ['illegal_transition', 'same',      'same',      'same',      'same',      'COMPLETED', 'same',      'same'],
  'PAUSED, its run not begun': ['illegal_transition', 'same',      'same',      'same',      'same',      'COMPLETED', 'same',      'same'],
  'PAUSED, put down':          ['stale_run',          'stale_run', 'stale_run', 'stale_run', 'stale_run', 'stale_run', 'stale_run', 'same'],
  'COMPLETED':                 ['stale_run',          'stale_run', 'stale_run', 'stale_run', 'stale_run', 'same',      'stale_run', 'stale_run'],
  'FAILED':                    ['stale_run',          'stale_run', 'stale_run', 'stale_run', 'stale_run', 'stale_run', 'same',      'stale_run'],
  'ABORTED':                   ['stale_run',          'stale_run', 'stale_run', 'stale_run', 'stale_run', 'stale_run', 'stale_run', 'same'],
  'ABORTED, to be retried':    ['stale_run',          'stale_run', 'stale_run', 'stale_run', 'stale_run', 'stale_run', 'same',      'stale_run'],
  'ARCHIVED':                  ['stale_run',          'stale_run', 'stale_run', 'stale_run', 'stale_run', 'same',      'stale_run', 'stale_run'],
};

const SENT: Record<(typeof REPORTS)[number], ['post' | 'patch' | 'put', Record<string, unknown>]> =
  {
    start: ['post', {}],
    progress: ['patch', { progressPercent: 40 }],
    checkpoint: ['put', { checkpointData: { step: 4 } }],
    logs: ['post', { entries: [{ message: 'a line' }] }],
    renew: ['post', { leaseSeconds: 60 }],
    complete: ['post', { outputResult: { n: 1 } }],
    fail: ['post', { error: { message: 'broken', retryable: true } }],
    release: ['post', { reason: 'drain' }],
  };

let app: TestServer;
let workspace: TestWorkspace;

beforeAll(async () => {
  app = await soundServer();
  workspace = await app.newWorkspace();
});

afterAll(() => app.stop());

describe.each(SITUATIONS)('a task that is %s', (name) => {
  it.each(COMMANDS.map((command, index) => [command, COMMANDED[name][index] as Outcome] as const))(
    'the command %s leads to %s',
    async (command, outcome) => {
      const situation = await aSituation({ app, workspace }, name);
      const before = await rowOf(situation);
      const answer = await workspace.api.post(`/agent-tasks/${situation.taskId}/${command}`);
      await expectOutcome({ answer, situation, before, outcome });
      if (outcome !== 'illegal_transition') {
        expect(answer.body.status).toBe((await rowOf(situation)).status);
        return;
      }
      const possible = COMMANDS.filter(
        (_, index) => (COMMANDED[name][index] as string) in STATUSES,
      );
      expect(answer.body.commands).toEqual(possible);
    },
  );

  it.each(REPORTS.map((report, index) => [report, REPORTED[name][index] as Outcome] as const))(
    'the report %s of its run leads to %s',
    async (report, outcome) => {
      const situation = await aSituation({ app, workspace }, name);
      const before = await rowOf(situation);
      const [method, body] = SENT[report];
      const answer = await situation.agent.api[method](`/runs/${situation.runId}/${report}`, body);
      await expectOutcome({ answer, situation, before, outcome });
    },
  );
});

it('every log is an unbroken chain, and every other invariant holds', async () => {
  const outcomes = await checkInvariants(app.db.ownerUrl);
  expect(outcomes.filter(({ holds }) => !holds)).toEqual([]);
});

interface Row {
  status: Status;
  version: number;
}

async function rowOf({ taskId }: Situation): Promise<Row> {
  const { rows } = await app.db.owner.query<Row>(
    'SELECT status, version FROM agent_tasks WHERE id = $1',
    [taskId],
  );
  return rows[0] as Row;
}

interface Observed {
  answer: ApiAnswer;
  situation: Situation;
  before: Row;
  outcome: Outcome;
}

async function expectOutcome({ answer, situation, before, outcome }: Observed): Promise<void> {
  const after = await rowOf(situation);
  switch (outcome) {
    case 'illegal_transition':
      expectIllegal(answer, before.status);
      break;
    case 'stale_run':
      expect(answer).toMatchObject({
        status: 409,
        body: { code: outcome, current: before.status },
      });
      break;
    case 'same':
      expectAccepted(answer);
      break;
    default:
      expectAccepted(answer);
      expect(after).toEqual({ status: outcome, version: before.version + 1 });
      return;
  }
  expect(after).toEqual(before);
}

function expectAccepted({ status, body }: ApiAnswer): void {
  expect({ body, isAccepted: status < 300 }).toEqual({ body, isAccepted: true });
}

function expectIllegal({ status, body }: ApiAnswer, current: Status): void {
  const { code, legal } = body;
  expect({ status, code, current: body.current, legal }).toEqual({
    status: 409,
    code: 'illegal_transition',
    current,
    legal: STATUSES[current],
  });
}
