import { createHash } from 'node:crypto';
import {
  type CommitStatus,
  type Forge,
  type ForgeEvent,
  markOf,
  type PullRequest,
} from '../kinds/forge.js';
import { ForgeRefusal } from '../requests/failures.js';
import { normal, withBlock } from './block.js';
import { latestVerdicts } from './latest-verdicts.js';

/** What a change wants its pull request to be. */
export interface WantedPullRequest {
  /** Null until it is known. */
  number: number | null;
  /** What the last synchronisation has written and read. */
  seen: string | null;
  branch: string;
  target: string;
  /** The submitted commit. */
  headCommit: string;
  title: string;
  /** Its part of the description. Words of people around it stay. */
  body: string;
  status: CommitStatus | null;
  /** Comments that must be there, each once. */
  comments: readonly { id: string; body: string }[];
}

export interface FoundPullRequest {
  pullRequest: PullRequest;
  /** The words of people who can write to the repository. Empty if nothing has changed. */
  events: ForgeEvent[];
  /** For the next synchronisation. */
  seen: string;
}

export interface Synchronising {
  /** Called as soon as the number is known. */
  record: (pullRequest: PullRequest) => Promise<unknown>;
  /** Called before each write. It throws if the step can have another host by now. */
  holds: () => void;
}

/** The most recent ones count. */
const MAX_EVENTS = 200;

/**
 * Brings a pull request and its change together: opens it if there is none, writes what is missing,
 * and reads what people said. A repetition after an end at any point writes nothing twice.
 *
 * @throws ForgeUnavailable, ForgeRefusal also where it goes to another branch, and the errors of
 *   `record` and `holds`
 */
export async function synchronise(
  forge: Forge,
  wanted: WantedPullRequest,
  { record, holds }: Synchronising,
): Promise<FoundPullRequest> {
  const pullRequest = await findOrOpen(forge, wanted, holds);
  if (pullRequest.state === 'open') refuseOtherTarget(pullRequest, wanted.target);
  if (pullRequest.number !== wanted.number) await record(pullRequest);
  const written = hashOf(wanted);
  const whole = `${written} ${pullRequest.updatedAt}`;
  const isOpen = pullRequest.state === 'open';
  if (isOpen && wanted.seen === whole) return { pullRequest, events: [], seen: whole };
  const { number } = pullRequest;
  const { events, marks } = await forge.read(number);
  let writes = 0;
  const write = async (work: () => Promise<void>): Promise<void> => {
    holds();
    await work();
    writes += 1;
  };
  const body = withBlock(pullRequest.body, wanted.body);
  if (isOpen && body !== normal(pullRequest.body)) await write(() => forge.describe(number, body));
  const { status } = wanted;
  if (status !== null && wanted.seen?.split(' ')[0] !== written) {
    await write(() => forge.setStatus(wanted.headCommit, status));
  }
  for (const { id, body } of isOpen ? wanted.comments : []) {
    if (marks.includes(id)) continue;
    await write(() => forge.comment(number, `${markOf(id)}\n${body}`));
  }
  const isComplete = writes === 0 && pullRequest.isSettled;
  const said = await ofWriters(forge, latestVerdicts(events.slice(-MAX_EVENTS)));
  return { pullRequest, events: said, seen: isComplete ? whole : written };
}

/** The end of a change. */
export type End = { state: 'merged'; commit: string } | { state: 'closed' };

/** GitHub needs a moment to see that the target contains the head. */
const LOOKS = 5;
const BETWEEN_MS = 2_000;

/**
 * Brings the pull request of a change that has ended to its end, before its branch is removed.
 * None is opened. It can be repeated.
 *
 * @throws ForgeUnavailable, ForgeRefusal, and the error of `holds`
 */
export async function finish(
  forge: Forge,
  wanted: WantedPullRequest,
  { end, holds, pause }: { end: End; holds: () => void; pause: (ms: number) => Promise<void> },
): Promise<void> {
  const { headCommit, status } = wanted;
  const found = await findKnown(forge, wanted);
  if (found === undefined) return;
  const body = withBlock(found.body, wanted.body);
  holds();
  if (body !== normal(found.body)) await forge.describe(found.number, body);
  if (status !== null) await forge.setStatus(headCommit, status);
  if (found.state !== 'open') return;
  if (end.state === 'merged') {
    const isTold = await forge.noteMerged(found.number, end.commit);
    for (let look = 0; isTold && look < LOOKS; look += 1) {
      if ((await forge.get(found.number)).state !== 'open') return;
      await pause(BETWEEN_MS);
      holds();
    }
    const { marks } = await forge.read(found.number);
    const words = `${markOf('merged')}\nDrover has merged it as ${end.commit}.`;
    if (!marks.includes('merged')) await forge.comment(found.number, words);
  }
  await forge.close(found.number);
}

async function findOrOpen(
  forge: Forge,
  { number, branch, target, headCommit, title, body }: WantedPullRequest,
  holds: () => void,
): Promise<PullRequest> {
  const found = await findKnown(forge, { number, branch, target, headCommit });
  if (found !== undefined) return found;
  holds();
  return forge.open({ branch, target, title, body: withBlock('', body) });
}

/** A repository can have moved to another forge, where the number is another pull request. */
async function findKnown(
  forge: Forge,
  {
    number,
    branch,
    target,
    headCommit,
  }: Pick<WantedPullRequest, 'number' | 'branch' | 'target' | 'headCommit'>,
): Promise<PullRequest | undefined> {
  const known = number === null ? undefined : await forge.get(number).catch(unlessMissing);
  // A merge into another branch leaves the change to be merged, by another pull request.
  const isElsewhere = known?.state === 'merged' && known.target !== target;
  const isOwn =
    !isElsewhere && (known?.branch === branch || known?.branch.startsWith('refs/pull/'));
  return isOwn ? known : forge.find(branch, target, headCommit);
}

/** @throws ForgeRefusal if somebody has changed the branch into which the pull request goes */
export function refuseOtherTarget(pullRequest: PullRequest, target: string): void {
  if (pullRequest.target === target) return;
  const where = `The pull request goes to ${pullRequest.target}, not ${target}`;
  throw new ForgeRefusal(`${where}: change its base at the forge, or close it`, 0);
}

/** @throws the error, unless the forge has no such thing */
export function unlessMissing(error: unknown): undefined {
  if (!(error instanceof ForgeRefusal) || error.status !== 404) throw error;
}

async function ofWriters(forge: Forge, events: readonly ForgeEvent[]): Promise<ForgeEvent[]> {
  const rights = new Map<string, boolean | undefined>();
  for (const { login } of events) {
    if (!rights.has(login)) rights.set(login, await forge.canWrite(login));
  }
  return events.filter((event) => rights.get(event.login) ?? isOfficialVerdict(event));
}

/** Where nobody sees the rights of a person, the forge's own word counts. */
function isOfficialVerdict({ verdict, isOfficial }: ForgeEvent): boolean {
  return verdict !== 'commented' && isOfficial === true;
}

/** Of everything that is written. */
function hashOf({ headCommit, body, status, comments }: WantedPullRequest): string {
  const all = JSON.stringify([headCommit, body, status, comments]);
  return createHash('sha256').update(all).digest('base64url').slice(0, 22);
}
