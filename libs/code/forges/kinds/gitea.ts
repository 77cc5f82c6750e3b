import {
  type Api,
  giteaApi,
  type MergePullRequestOption,
  type PullRequest as GiteaPullRequest,
} from 'gitea-js';
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
import { toCheck, toComment, toPullRequest, toReview } from './gitea-answers.js';
import { hookFinding } from './hook-finding.js';
import { methodFinding } from './method-finding.js';

const LIMIT = 50;
const MAX_PAGES = 20;
/** The repository allows no merges of this kind. */
const NO_STYLE = /merge (?:style|strategy)/i;
/** Refusals that end by themselves, with their seconds. */
const WAITS: [RegExp, number][] = [
  [/try again later/i, 5],
  [/status checks? .*(?:not|pending)/i, 60],
];
const WRITERS = ['write', 'admin', 'owner'];
/** The settings of a repository that allow the methods. */
const SETTINGS = {
  merge: 'allow_merge_commits',
  squash: 'allow_squash_merge',
  rebase: 'allow_rebase',
} as const;

/** Gitea, and Forgejo. */
export function gitea({ place, token, fetch }: ForgeParts): Forge {
  const { api, owner, repo } = place;
  const client = giteaApi(api.replace(/\/api\/v1$/, ''), { token, customFetch: fetch });
  return new Gitea(client, owner, repo);
}

class Gitea implements Forge {
  private readonly names: readonly [string, string];

  constructor(
    private readonly client: Api<unknown>,
    owner: string,
    repo: string,
  ) {
    this.names = [owner, repo];
  }

  async find(branch: string, target: string, head: string): Promise<PullRequest | undefined> {
    const isOwn = (each: GiteaPullRequest) =>
      each.base?.ref === target &&
      each.head?.ref === branch &&
      // A fork can have a branch of the same name.
      each.head.repo_id === each.base.repo_id;
    const open = await this.search('open', MAX_PAGES, isOwn);
    if (open !== undefined) return open;
    // The branch of a merged one can be gone.
    return this.search('closed', 1, (each) => each.merged === true && each.head?.sha === head);
  }

  private async search(
    state: 'open' | 'closed',
    pages: number,
    fits: (each: GiteaPullRequest) => boolean,
  ): Promise<PullRequest | undefined> {
    for (let page = 1; page <= pages; page += 1) {
      const query = { state, page, limit: LIMIT, sort: 'recentupdate' } as const;
      const data = await told(this.client.repos.repoListPullRequests(...this.names, query));
      const found = data.find(fits);
      if (found !== undefined) return toPullRequest(found);
      if (data.length < LIMIT) return undefined;
    }
    return undefined;
  }

  async open({ branch, target, title, body }: NewPullRequest): Promise<PullRequest> {
    const request = { title, body, head: branch, base: target };
    try {
      const { repos } = this.client;
      return toPullRequest(await told(repos.repoCreatePullRequest(...this.names, request)));
    } catch (error) {
      if (!(error instanceof ForgeRefusal) || error.status !== 409) throw error;
      const other = await this.find(branch, target, '');
      if (other === undefined) throw error;
      return other;
    }
  }

  async get(number: number): Promise<PullRequest> {
    const answer = this.client.repos.repoGetPullRequest(...this.names, number);
    const data = await told(answer);
    return toPullRequest(data, (await answer).headers.get('date'));
  }

  async describe(number: number, body: string): Promise<void> {
    await told(this.client.repos.repoEditPullRequest(...this.names, number, { body }));
  }

  async close(number: number): Promise<void> {
    const request = { state: 'closed' };
    await told(this.client.repos.repoEditPullRequest(...this.names, number, request));
  }

  async comment(number: number, body: string): Promise<void> {
    await told(this.client.repos.issueCreateComment(...this.names, number, { body }));
  }

  async read(number: number): Promise<Conversation> {
    const { repos } = this.client;
    const comments = await told(repos.issueGetComments(...this.names, number));
    const said = comments.map((one) => ({ at: one.created_at, event: toComment(one) }));
    const reviews = await allPages((query) =>
      told(repos.repoListPullReviews(...this.names, number, query)),
    );
    for (const review of reviews) {
      const lines =
        (review.comments_count ?? 0) === 0
          ? []
          : await told(repos.repoGetPullReviewComments(...this.names, number, review.id ?? 0));
      said.push({ at: review.submitted_at, event: toReview(review, lines) });
    }
    const marks = comments.map(({ body = '' }) => idOfMark(body));
    return {
      events: oldestFirst(said),
      marks: marks.filter((mark) => mark !== undefined),
    };
  }

  /** Only administrators of a repository see the rights of others. */
  async canWrite(login: string): Promise<boolean | undefined> {
    const answer = this.client.repos.repoGetRepoPermissions(...this.names, login);
    const found = await told(answer).catch((error: unknown) => {
      if (!(error instanceof ForgeRefusal)) throw error;
      if (error.status === 404) return { permission: 'none' };
      if (error.status === 403) return undefined;
      throw error;
    });
    return found && WRITERS.includes(found.permission ?? '');
  }

  async setStatus(commit: string, { state, description, url }: CommitStatus): Promise<void> {
    const target = url === null ? {} : { target_url: url };
    // The published description has states as objects; the server wants their names.
    const status = { state, context: STATUS_NAME, description, ...target } as never;
    await told(this.client.repos.repoCreateStatus(...this.names, commit, status));
  }

  async checks(commit: string): Promise<ForgeChecks> {
    const { repos } = this.client;
    const all = await allPages(async (query) => {
      const data = await told(repos.repoGetCombinedStatusByRef(...this.names, commit, query));
      return data.statuses ?? [];
    });
    return { all: all.map(toCheck) };
  }

  /**
   * The head stands on the target, so a fast-forward keeps the proven commit. Where it is not
   * allowed, Gitea makes a commit of its own.
   */
  async merge(number: number, merge: Merge): Promise<MergeEnd> {
    const [title = '', ...lines] = merge.message.trim().split('\n');
    const message = lines.join('\n').trim();
    const own = { Do: merge.method, MergeTitleField: title, MergeMessageField: message } as const;
    const end = await this.mergeBy(number, merge, { Do: 'fast-forward-only' });
    const isOtherWay = end.kind === 'refused' && NO_STYLE.test(end.why);
    return isOtherWay ? this.mergeBy(number, merge, own) : end;
  }

  private async mergeBy(
    number: number,
    { head, tip }: Merge,
    way: MergePullRequestOption,
  ): Promise<MergeEnd> {
    try {
      const request = { ...way, head_commit_id: head };
      await told(this.client.repos.repoMergePullRequest(...this.names, number, request));
      const { mergedCommit } = await this.get(number);
      return { kind: 'merged', commit: mergedCommit ?? head };
    } catch (error) {
      const isRefusal = error instanceof ForgeRefusal;
      if (!isRefusal && !(error instanceof ForgeUnavailable)) throw error;
      // A push that is rejected is a 409 as well, and a head that has diverged can be a 500.
      const isUnclear = !isRefusal || error.status === 409;
      if (isUnclear && (await this.hasMoved(number, { head, tip }))) return { kind: 'moved' };
      if (!isRefusal) throw error;
      const why = error.message;
      const seconds = WAITS.find(([pattern]) => pattern.test(why))?.[1];
      return { kind: 'refused', why, ...(seconds !== undefined && { waitSeconds: seconds }) };
    }
  }

  private async hasMoved(number: number, { head, tip }: Pick<Merge, 'head' | 'tip'>) {
    const { headCommit, target } = await this.get(number);
    if (headCommit !== head) return true;
    const { commit } = await told(this.client.repos.repoGetBranch(...this.names, target));
    return commit?.id !== tip;
  }

  async noteMerged(number: number, commit: string): Promise<boolean> {
    const request = { Do: 'manually-merged', MergeCommitID: commit } as const;
    try {
      await told(this.client.repos.repoMergePullRequest(...this.names, number, request));
      return true;
    } catch (error) {
      if (error instanceof ForgeRefusal) return false;
      throw error;
    }
  }

  async check({ target, mergeMethod, publicUrl }: WantedOfForge): Promise<ForgeFinding[]> {
    const { repos } = this.client;
    const repository = await told(repos.repoGet(...this.names));
    const canPush = repository.permissions?.push === true;
    const token = canPush
      ? 'The token can write to the repository'
      : 'The token cannot write to the repository: give its user the right to write';
    const branch = await told(repos.repoGetBranch(...this.names, target));
    const isFine = branch.protected !== true || branch.user_can_merge === true;
    const protection = !branch.protected
      ? `${target} is not protected`
      : isFine
        ? `${target} is protected: if a push is refused, Drover merges through the forge`
        : `${target} is protected, and the user of the token cannot merge: allow it`;
    const hooks = await told(repos.repoListHooks(...this.names, { limit: LIMIT })).catch(
      (error: unknown) => {
        if (error instanceof ForgeRefusal) return undefined;
        throw error;
      },
    );
    return [
      { about: 'token', isFine: canPush, message: token },
      { about: 'branch', isFine, message: protection },
      methodFinding(mergeMethod, {
        isNeeded: branch.protected === true,
        isAllowed: repository[SETTINGS[mergeMethod]],
      }),
      hookFinding(
        hooks?.map(({ active, config }) => active === true && config?.['url']),
        publicUrl,
      ),
    ];
  }
}

async function allPages<T>(
  ask: (query: { page: number; limit: number }) => Promise<T[]>,
): Promise<T[]> {
  const all: T[] = [];
  for (let page = 1; page <= MAX_PAGES; page += 1) {
    const some = await ask({ page, limit: LIMIT });
    all.push(...some);
    if (some.length < LIMIT) break;
  }
  return all;
}

/** The data of gitea-js, which throws its whole answer. */
async function told<T>(asking: Promise<{ data: T }>): Promise<T> {
  try {
    return (await asking).data;
  } catch (error) {
    if (error instanceof Error) throw error;
    const { status, error: said } = error as { status: number; error?: { message?: string } };
    const words = said?.message ?? `status ${status}`;
    throw new ForgeRefusal(`Gitea refused: ${words.slice(0, 500)}`, status);
  }
}
