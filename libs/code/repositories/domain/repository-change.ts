import { placeOf, whyNoPlace } from '#lib/forges/domain';
import { redactText } from '#lib/kernel';
import type { RepositorySettings } from './repository.js';
import { BRANCH_RULE, isBranch, isBranchPattern, PATTERN_RULE } from './branch.js';
import { isWebAddress, readRepositoryUrl } from './repository-url.js';

export interface FieldError {
  field: string;
  message: string;
}

const IDENTITY = /^[^<>\n]+$/;

/**
 * Checks the given settings, alone and together.
 *
 * @param credentials the kind of credentials after the change
 * @param roots folders whose repositories can be named by path
 */
export function errorsOf(
  settings: Partial<RepositorySettings>,
  credentials: 'token' | 'ssh' | null,
  roots: readonly string[],
): FieldError[] {
  const { url, defaultBranch, branchPattern, committer, path } = settings;
  const { protectedPaths = [], cachePaths = [], forge, forgeUrl } = settings;
  const errors: FieldError[] = [];
  const demand = (isFit: boolean, field: string, message: string) => {
    if (!isFit) errors.push({ field, message });
  };
  const read = url === undefined ? undefined : readRepositoryUrl(url, roots);
  if (read && 'why' in read) errors.push({ field: 'url', message: read.why });
  else if (read && credentials !== null) {
    const fit = { token: ['https', 'http'], ssh: ['ssh'] }[credentials].includes(read.transport);
    demand(fit, 'credentials', `must fit the url, which is reached by ${read.transport}`);
  }
  if (url !== undefined && forge !== undefined && !(read && 'why' in read)) {
    const why = whyNoPlace(forge, { url, credentials });
    if (why !== undefined) errors.push(why);
  }
  demand(!forgeUrl || isWebAddress(forgeUrl), 'forgeUrl', ADDRESS);
  demand(
    defaultBranch === undefined || isBranch(defaultBranch),
    'defaultBranch',
    `must ${BRANCH_RULE}`,
  );
  demand(
    branchPattern === undefined || isBranchPattern(branchPattern),
    'branchPattern',
    `must ${PATTERN_RULE}`,
  );
  for (const [key, text] of Object.entries(committer ?? {})) {
    demand(IDENTITY.test(text), `committer.${key}`, 'must be one line without < and >');
  }
  demand(path === undefined || path === null || isInside(path), 'path', INSIDE);
  demand(protectedPaths.every(isInside), 'protectedPaths', INSIDE);
  const cached = cachePaths.map((each) => each.replace(/^\//, ''));
  demand(cached.every(isInside), 'cachePaths', INSIDE);
  for (const [field, text] of readableTexts(settings)) {
    demand(redactText(text) === text, field, 'must hold no secret: give it by `secrets`');
  }
  return errors;
}

/** The whole workspace reads them, and scripts with hidden parts would fail. */
function readableTexts({ setup, acceptance, variables }: Partial<RepositorySettings>) {
  const scripts = [
    ['setup', setup ?? ''],
    ['acceptance', acceptance ?? ''],
  ] as const;
  const named = Object.entries(variables ?? {});
  return [
    ...scripts,
    ...named.map(([name, text]) => [`variables.${name}`, `${name}=${text}`] as const),
  ];
}

/** Whether a token gets to a server that has not had it. Nobody can read it, also not so. */
export function goesElsewhere(
  { url, forge, forgeUrl }: Pick<RepositorySettings, 'url' | 'forge' | 'forgeUrl'>,
  after: Partial<RepositorySettings>,
): boolean {
  const api = forge === 'none' ? undefined : placeOf(forge, url, forgeUrl)?.api;
  const known = [url, forgeUrl, api].map(originOf);
  const next = [after.url, after.forgeUrl].map(originOf);
  return next.some((origin) => origin !== undefined && !known.includes(origin));
}

function originOf(text: string | null | undefined): string | undefined {
  return text && /^https?:/i.test(text) ? URL.parse(text)?.origin : undefined;
}

const ADDRESS = 'must be an https address, as in https://example.com/api/v3';

const INSIDE = 'must be a path in the repository, as in packages/shop, without . and ..';

/** A relative path without traps, in the form that git uses. */
function isInside(path: string): boolean {
  const parts = path.split('/');
  return parts.every((part) => part !== '' && part !== '.' && part !== '..' && part !== '.git');
}
