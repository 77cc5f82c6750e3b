import type { components } from '#lib/api-client';

type Schemas = components['schemas'];

/** All that a host needs for a repository. No session gets its credentials. */
export type RepositoryAccess = Schemas['RepositoryAccess'];

/** The repository of a run, with its change. */
export type RunRepositoryAnswer = Schemas['RunRepository'];

/** A step of a change that this host has claimed. */
export type StepWork = Schemas['StepWork'];

/** A change, as its host sees it. */
export type HostChange = Schemas['HostChange'];

/** A pull request, as this host has found it. */
export type FoundPullRequest = Schemas['RecordPullRequest'];

/** The lease of a step after its renewal. */
export type RenewedStep = Schemas['RenewedStep'];

/** A check of a repository that this host has claimed. */
export type CheckWork = Schemas['CheckWork'];

/** The findings of a host in a repository. */
export type Finding = Schemas['ReportedFinding'];

export type StepReport = Schemas['ReportStep'];

/** The change of a run, which its host has pushed. */
export type SubmitChange = Schemas['SubmitChange'];
