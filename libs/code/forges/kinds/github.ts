import { Octokit } from '@octokit/core';
import { paginateRest } from '@octokit/plugin-paginate-rest';
import type { components } from '@octokit/openapi-types';
import { ForgeRefusal, ForgeUnavailable } from '../requests/failures.js';
import {
  type CommitStatus,
  type Conversation,
  type Forge,
  type ForgeChecks,
  type ForgeFinding,
  type ForgeParts,
  idOfMark,
  type Merge,
  type MergeEnd,
  type NewPullRequest,
  oldestFirst,
  type PullRequest,
  STATUS_NAME,
  type WantedOfForge,
} from './forge.js';
import {
  readStatuses,
  toCheck,
  toCheckOfRun,
  toComment,
  toPullRequest,
  toReview,
} from './github-answers.js';
import { hookFinding } from './hook-finding.js';
import { methodFinding } from './method-finding.js';

type Schemas = components['schemas'];

const Client = Octokit.plugin(paginateRest);
const SILENT = { debug() {}, info() {}, warn() {}, error() {} };
const PAGE = { per_page: 100 } as const;
const UNREAD =
  'The token cannot read check runs: use a classic token with `repo`, or a token of a GitHub App';
const WRITERS = ['admin', 'write'];
/** The settings of a repository that allow the methods. */
const SETTINGS = {
  merge: 'allow_merge_commit',
  squash: 'allow_squash_merge',
  rebase: 'allow_rebase_merge',
} as const;

/** GitHub, and GitHub Enterprise. */
export function github({ place, token, fetch }: ForgeParts): Forge {
  return new GitHub(
    place,
    new Client({ auth: token, baseUrl: place.api, log: SILENT, request: { fetch } }),
  );
}

class GitHub implements Forge {
  private readonly names: { owner: string; repo: string };

  constructor(
    { owner, repo }: ForgeParts['place'],
    private readonly client: InstanceType<typeof Client>,
  ) {
    this.names = { owner, repo };
  }

  async find(branch: string, target: string, head: string): Promise<PullRequest | undefined> {
    const { data } = await told(
      this.client.request('GET /repos/{owner}/{repo}/pulls', {
        ...this.names,
        ...PAGE,
        state: 'all',
        head: `${this.names.owner}:${branch}`,
        base: target,
      }),
    );
    const own = data.filter((each) => each.head.ref === branch);
    const found =
      own.find((each) => each.state === 'open') ??
      own.find((each) => each.merged_at !== null && each.head.sha === head);
    return found && toPullRequest(found);
  }

  async open({ branch, target, title, body }: NewPullRequest): Promise<PullRequest> {
    const request = { ...this.names, title, body, head: branch, base: target };
    try {
      const { data } = await told(this.client.request('POST /repos/{owner}/{repo}/pulls', request));
      return toPullRequest(data);
    } catch (error) {
      if (!(error instanceof ForgeRefusal) || error.status !== 422) throw error;
      const other = await this.find(branch, target, '');
      if (other === undefined) throw error;
      return other;
    }
  }

  async get(number: number): Promise<PullRequest> {
    const { data, headers } = await told(
      this.client.request('GET /repos/{owner}/{repo}/pulls/{pull_number}', this.of(number)),
    );
    return toPullRequest(data, headers.date);
  }

  async describe(number: number, body: string): Promise<void> {
    const route = 'PATCH /repos/{owner}/{repo}/pulls/{pull_number}';
    await told(this.client.request(route, { ...this.of(number), body }));
  }

  async close(number: number): Promise<void> {
    const route = 'PATCH /repos/{owner}/{repo}/pulls/{pull_number}';
    await told(this.client.request(route, { ...this.of(number), state: 'closed' }));
  }

  async comment(number: number, body: string): Promise<void> {
    const route = 'POST /repos/{owner}/{repo}/issues/{issue_number}/comments';
    await told(this.client.request(route, { ...this.names, issue_number: number, body }));
  }

  async read(number: number): Promise<Conversation> {
    const { client } = this;
    const of = { ...this.of(number), ...PAGE };
    const issue = { ...this.names, ...PAGE, issue_number: number };
    const [reviews, lines, comments] = await told(
      Promise.all([
        client.paginate('GET /repos/{owner}/{repo}/pulls/{pull_number}/reviews', of),
        client.paginate('GET /repos/{owner}/{repo}/pulls/{pull_number}/comments', of),
        client.paginate('GET /repos/{owner}/{repo}/issues/{issue_number}/comments', issue),
      ]),
    );
    const said = [
      ...comments.map((one) => ({ at: one.created_at, event: toComment(one) })),
      ...reviews.map((one) => ({ at: one.submitted_at, event: toReview(one, lines) })),
    ];
    const marks = comments.map(({ body = '' }) => idOfMark(body));
    return {
      events: oldestFirst(said),
      marks: marks.filter((mark) => mark !== undefined),
    };
  }

  async canWrite(login: string): Promise<boolean> {
    const route = 'GET /repos/{owner}/{repo}/collaborators/{username}/permission';
    const { data } = await told(
      this.client.request(route, { ...this.names, username: login }),
    ).catch(unless(404, { data: { permission: 'none' } }));
    return WRITERS.includes(data.permission);
  }

  async setStatus(commit: string, { state, description, url }: CommitStatus): Promise<void> {
    await told(
      this.client.request('POST /repos/{owner}/{repo}/statuses/{sha}', {
        ...this.names,
        sha: commit,
        state,
        description,
        context: STATUS_NAME,
        ...(url !== null && { target_url: url }),
      }),
    );
  }

  async checks(commit: string): Promise<ForgeChecks> {
    const { client } = this;
    const of = { ...this.names, ...PAGE, ref: commit };
    const statuses = await told(
      client.paginate('GET /repos/{owner}/{repo}/commits/{ref}/status', of, readStatuses),
    );
    const runs = await this.runsOf(commit);
    const all = [...statuses.map(toCheck), ...(runs ?? []).map(toCheckOfRun)];
    return { all, ...(runs === undefined && { unread: UNREAD }) };
  }

  /** Undefined: the token cannot read them. No fine-grained token of a user can. */
  private runsOf(ref: string): Promise<Schemas['check-run'][] | undefined> {
    const route = 'GET /repos/{owner}/{repo}/commits/{ref}/check-runs';
    return told(this.client.paginate(route, { ...this.names, ...PAGE, ref })).catch(
      unless(403, undefined),
    );
  }

  async merge(number: number, { head, method, message }: Merge): Promise<MergeEnd> {
    const route = 'PUT /repos/{owner}/{repo}/pulls/{pull_number}/merge';
    const [title = '', ...lines] = message.trim().split('\n');
    const words = { commit_title: title, commit_message: lines.join('\n').trim() };
    try {
      const request = { ...this.of(number), sha: head, merge_method: method, ...words };
      const { data } = await told(this.client.request(route, request));
      return { kind: 'merged', commit: data.sha };
    } catch (error) {
      if (!(error instanceof ForgeRefusal)) throw error;
      if (error.status === 409) return { kind: 'moved' };
      return { kind: 'refused', why: error.message, ...waitAfter(error.message) };
    }
  }

  /** GitHub finds by itself that the target contains the head. */
  noteMerged(): Promise<boolean> {
    return Promise.resolve(true);
  }

  async check({
    target,
    requiredChecks,
    mergeMethod,
    publicUrl,
  }: WantedOfForge): Promise<ForgeFinding[]> {
    const { data } = await told(this.client.request('GET /repos/{owner}/{repo}', this.names));
    const canPush = data.permissions?.push === true;
    const token = canPush
      ? 'The token can write to the repository'
      : 'The token cannot write to the repository: give it the rights to contents and pull requests';
    const branch = await told(
      this.client.request('GET /repos/{owner}/{repo}/branches/{branch}', {
        ...this.names,
        branch: target,
      }),
    );
    const isProtected = branch.data.protected;
    const protection = isProtected
      ? `${target} is protected: if a push is refused, Drover merges through the forge`
      : `${target} is not protected`;
    return [
      { about: 'token', isFine: canPush, message: token },
      { about: 'branch', isFine: true, message: protection },
      methodFinding(mergeMethod, { isNeeded: isProtected, isAllowed: data[SETTINGS[mergeMethod]] }),
      await this.findChecks(branch.data.commit.sha, requiredChecks),
      await this.findHook(publicUrl),
    ];
  }

  private async findChecks(commit: string, required: readonly string[]): Promise<ForgeFinding> {
    const about = 'checks';
    if ((await this.runsOf(commit)) !== undefined) {
      return { about, isFine: true, message: 'The token can read check runs' };
    }
    const isNeeded = required.length > 0;
    const message = isNeeded
      ? `${UNREAD}. Without it, ${required.join(', ')} must be commit statuses`
      : 'The token cannot read check runs, and no check is required';
    return { about, isFine: !isNeeded, message };
  }

  private async findHook(publicUrl: WantedOfForge['publicUrl']): Promise<ForgeFinding> {
    const hooks = await told(
      this.client.request('GET /repos/{owner}/{repo}/hooks', { ...this.names, ...PAGE }),
    ).catch((error: unknown) => {
      if (error instanceof ForgeRefusal) return undefined;
      throw error;
    });
    const urls = hooks?.data.map(({ active, config }) => active && config.url);
    return hookFinding(urls, publicUrl);
  }

  private of(number: number) {
    return { ...this.names, pull_number: number };
  }
}

/** The answers of octokit, with the errors of this library. */
async function told<T>(asking: Promise<T>): Promise<T> {
  try {
    return await asking;
  } catch (error) {
    if (!(error instanceof Error)) throw error;
    const { cause } = error;
    if (cause instanceof ForgeUnavailable || cause instanceof ForgeRefusal) throw cause;
    const status = 'status' in error ? Number(error.status) : undefined;
    if (status === undefined || status >= 500) throw error;
    throw new ForgeRefusal(`GitHub refused: ${error.message.slice(0, 500)}`, status);
  }
}

/** Refusals that end by themselves. */
const WAITS: [RegExp, number][] = [
  [/base branch was modified|try again|already in progress/i, 5],
  [/status checks? .*(?:expected|pending|in progress|queued)/is, 60],
];

function waitAfter(words: string): { waitSeconds?: number } {
  const found = WAITS.find(([pattern]) => pattern.test(words));
  return found === undefined ? {} : { waitSeconds: found[1] };
}

function unless<T>(status: number, value: T): (error: unknown) => T {
  return (error) => {
    if (error instanceof ForgeRefusal && error.status === status) return value;
    throw error;
  };
}
