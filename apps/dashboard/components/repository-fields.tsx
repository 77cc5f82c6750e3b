import type { ComponentProps } from 'react';
import type { components } from '#lib/api-client';
import { CredentialFields } from './credential-fields.js';
import { Field } from './parts.js';
import { ModelField, ProjectPicker } from './pickers.js';

type Repository = components['schemas']['Repository'];

/** All settings of a repository, by the names of the API. */
export function RepositoryFields({ of }: { of: Repository }) {
  const text = (name: keyof Repository, rest: ComponentProps<'input'> = {}) => {
    const value = of[name];
    const shown = Array.isArray(value) ? value.join(', ') : String(value ?? '');
    return <input className="input" name={name} defaultValue={shown} {...rest} />;
  };
  const script = (name: 'setup' | 'acceptance') => (
    <textarea
      className="input"
      name={name}
      rows={3}
      maxLength={50_000}
      spellCheck={false}
      defaultValue={of[name] ?? ''}
    />
  );
  // Checks and paths can contain commas.
  const lines = (name: 'protectedPaths' | 'cachePaths' | 'requiredChecks') => (
    <textarea
      className="input"
      name={name}
      rows={2}
      spellCheck={false}
      defaultValue={of[name].join('\n')}
    />
  );
  const choice = (name: keyof Repository, words: Record<string, string>) => (
    <select className="input" name={name} defaultValue={String(of[name])}>
      {Object.entries(words).map(([value, word]) => (
        <option key={value} value={value}>
          {word}
        </option>
      ))}
    </select>
  );
  const seconds = { type: 'number', min: 1, max: 86_400, required: true };
  return (
    <>
      <Field label="Name">{text('name', { required: true, maxLength: 100 })}</Field>
      <Field label="URL">{text('url', { required: true, maxLength: 2_000 })}</Field>
      <div className="pair">
        <Field label="Branch on which changes land">
          {text('defaultBranch', { required: true })}
        </Field>
        <Field label="Branches of changes" hint="With {task}.">
          {text('branchPattern', { required: true })}
        </Field>
      </div>
      <ProjectPicker empty="All projects" defaultValue={of.projectId ?? ''} />
      <div className="pair">
        <Field label="Review">
          {choice('review', {
            person: 'A person reviews',
            agent: 'An agent reviews',
            both: 'Both review',
            none: 'Nobody reviews',
          })}
        </Field>
        <Field label="Kind of the reviewing agent">
          <input
            className="input"
            name="reviewer.kind"
            maxLength={50}
            defaultValue={of.reviewer?.kind}
          />
        </Field>
        <Field label="Model of the reviewer">
          <ModelField name="reviewer.model" defaultValue={of.reviewer?.model ?? ''} />
        </Field>
      </div>
      <div className="pair">
        <Field label="Merge">
          {choice('mergeMethod', { squash: 'Squash', merge: 'Merge', rebase: 'Rebase' })}
        </Field>
        <Field label="Maximum revisions">
          {text('maxRevisions', { type: 'number', min: 0, max: 100, required: true })}
        </Field>
      </div>
      <Field label="Setup" hint="A script that prepares a checkout, such as npm ci.">
        {script('setup')}
      </Field>
      <Field label="Acceptance" hint="A script that proves a change, such as npm test.">
        {script('acceptance')}
      </Field>
      <div className="pair">
        <Field label="Timeout of setup (s)">{text('setupTimeoutSeconds', seconds)}</Field>
        <Field label="Timeout of acceptance (s)">{text('acceptanceTimeoutSeconds', seconds)}</Field>
      </div>
      <Field label="Variables" hint="One NAME=value a line. The workspace can read them.">
        <textarea
          className="input"
          name="variables"
          rows={2}
          defaultValue={Object.entries(of.variables)
            .map(([name, value]) => `${name}=${String(value)}`)
            .join('\n')}
        />
      </Field>
      <Field label="Protected paths" hint="One a line. No agent changes them.">
        {lines('protectedPaths')}
      </Field>
      <div className="pair">
        <Field label="Folder" hint="Checkouts are limited to it.">
          {text('path')}
        </Field>
        <Field
          label="Cached folders"
          hint="One a line. Setup makes them, later checkouts share them."
        >
          {lines('cachePaths')}
        </Field>
      </div>
      <div className="pair">
        <Field
          label="Network"
          hint="The most that sessions and scripts get, if the workspace and the project allow it."
        >
          {choice('network', { none: 'None', allow: 'Allowed hosts', host: 'All of the host' })}
        </Field>
        <Field label="Allowed hosts" hint="Separate with commas.">
          {text('allowedHosts')}
        </Field>
      </div>
      <div className="pair">
        <Field label="Forge">
          {choice('forge', { none: 'None', github: 'GitHub', gitea: 'Gitea or Forgejo' })}
        </Field>
        <Field label="Address of its API" hint="Empty: the usual one.">
          {text('forgeUrl')}
        </Field>
        <Field label="Required checks" hint="One a line.">
          {lines('requiredChecks')}
        </Field>
      </div>
      <div className="pair">
        <Field label="Name of the committer" hint="Of all commits. Empty: Drover.">
          <input
            className="input"
            name="committer.name"
            maxLength={200}
            defaultValue={of.committer?.name}
          />
        </Field>
        <Field label="E-mail of the committer">
          <input
            className="input"
            name="committer.email"
            maxLength={200}
            defaultValue={of.committer?.email}
          />
        </Field>
      </div>
      <CredentialFields of={of} />
      <Field label="Secret variables" hint="New ones, one NAME=value a line. Others stay.">
        <textarea className="input" name="secrets" rows={2} autoComplete="off" />
      </Field>
      <Field
        label="Remove secret variables"
        hint={of.secretNames.length > 0 ? `Known: ${of.secretNames.join(', ')}` : 'There are none.'}
      >
        <input className="input" name="removedSecrets" />
      </Field>
    </>
  );
}
