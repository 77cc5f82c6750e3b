import type { components } from '#lib/api-client';
import { FormError, readVariables } from './task-draft.js';

type ChangeRepository = components['schemas']['ChangeRepository'];

/** A form keeps, replaces or removes the present credentials. */
export type CredentialChange = 'keep' | 'token' | 'ssh' | 'remove';

/**
 * Reads all settings of a repository from its form. An empty secret keeps the present one.
 *
 * @throws FormError if variables are not `NAME=value`, or a key is both given and removed
 */
export function readRepository(form: FormData): ChangeRepository {
  const text = (name: string) => String(form.get(name) ?? '').trim();
  const list = (name: string, between = ',') =>
    text(name)
      .split(between)
      .map((part) => part.trim())
      .filter(Boolean);
  const secrets = readVariables(text('secrets'), 'secrets');
  const removedSecrets = list('removedSecrets');
  const kind = text('reviewer.kind');
  const model = text('reviewer.model');
  const committer = { name: text('committer.name'), email: text('committer.email') };
  return {
    name: text('name'),
    url: text('url'),
    defaultBranch: text('defaultBranch'),
    branchPattern: text('branchPattern'),
    projectId: text('projectId') || null,
    review: text('review') as NonNullable<ChangeRepository['review']>,
    reviewer: kind === '' ? null : { kind, ...(model !== '' && { model }) },
    mergeMethod: text('mergeMethod') as NonNullable<ChangeRepository['mergeMethod']>,
    maxRevisions: Number(text('maxRevisions')),
    committer: committer.name + committer.email === '' ? null : committer,
    setup: text('setup') || null,
    acceptance: text('acceptance') || null,
    setupTimeoutSeconds: Number(text('setupTimeoutSeconds')),
    acceptanceTimeoutSeconds: Number(text('acceptanceTimeoutSeconds')),
    variables: readVariables(text('variables'), 'variables') ?? {},
    protectedPaths: list('protectedPaths', '\n'),
    path: text('path') || null,
    cachePaths: list('cachePaths', '\n'),
    network: text('network') as NonNullable<ChangeRepository['network']>,
    allowedHosts: list('allowedHosts'),
    forge: text('forge') as NonNullable<ChangeRepository['forge']>,
    forgeUrl: text('forgeUrl') || null,
    requiredChecks: list('requiredChecks', '\n'),
    ...readCredentials(form),
    ...readSigningKey(form),
    ...(secrets && { secrets }),
    ...(removedSecrets.length > 0 && { removedSecrets }),
  };
}

function readCredentials(form: FormData): Pick<ChangeRepository, 'credentials'> {
  const text = (name: string) => String(form.get(`credentials.${name}`) ?? '').trim();
  switch (form.get('credentials') as CredentialChange) {
    case 'keep':
      return {};
    case 'remove':
      return { credentials: null };
    case 'token': {
      const [token, username] = [text('token'), text('username')];
      return { credentials: { kind: 'token', token, ...(username !== '' && { username }) } };
    }
    case 'ssh': {
      const [privateKey, knownHosts] = [text('privateKey'), text('knownHosts')].map(asFile);
      return { credentials: { kind: 'ssh', privateKey, knownHosts } };
    }
  }
}

function readSigningKey(form: FormData): Pick<ChangeRepository, 'signingKey'> {
  const key = String(form.get('signingKey') ?? '').trim();
  const removes = form.get('removeSigningKey') === 'on';
  if (removes && key !== '') {
    throw new FormError('A new key cannot be removed. Leave the field empty.', 'signingKey');
  }
  if (removes) return { signingKey: null };
  return key === '' ? {} : { signingKey: asFile(key) };
}

/** The lines of a text area. SSH reads a key only if its last line has an end. */
function asFile(text: string): string {
  return `${text.replaceAll('\r\n', '\n')}\n`;
}
