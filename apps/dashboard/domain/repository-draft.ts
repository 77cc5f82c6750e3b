import type { components } from '#lib/api-client';
import { readVariables } from './task-draft.js';

type ChangeRepository = components['schemas']['ChangeRepository'];

/** Reads all settings of a repository from its form. An empty secret keeps the present one. */
export function readRepository(form: FormData): ChangeRepository {
  const text = (name: string) => String(form.get(name) ?? '').trim();
  const list = (name: string, between = ',') =>
    text(name)
      .split(between)
      .map((part) => part.trim())
      .filter(Boolean);
  const token = text('token');
  const secrets = readVariables(text('secrets'), 'secrets');
  const removedSecrets = list('removedSecrets');
  const kind = text('reviewer.kind');
  const model = text('reviewer.model');
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
    ...(token !== '' && { credentials: { kind: 'token' as const, token } }),
    ...(secrets && { secrets }),
    ...(removedSecrets.length > 0 && { removedSecrets }),
  };
}
