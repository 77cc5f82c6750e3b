import type { ChangeReview } from '../domain/changes.js';
import { shortCommit } from '../domain/changes.js';
import { formatDuration, stripControls } from '../domain/format.js';
import { Badge, toLabel } from './badge.js';
import { Caller } from './caller.js';
import { Foreign } from './foreign.js';
import { Ago, Empty, Panel } from './parts.js';

const TITLES: Record<ChangeReview['kind'], string> = {
  proof: 'Acceptance',
  review: 'Review',
  rebase: 'Rebase',
};

/** The proofs, reviews and conflicts of a change, the newest first. */
export function ChangeReviews({ reviews }: { reviews: ChangeReview[] }) {
  return (
    <Panel title="History">
      {reviews.length === 0 && <Empty title="Nothing has been proven or reviewed yet" small />}
      <ol className="stack">
        {reviews.toReversed().map((review, index) => (
          <li key={review.id}>
            <OneReview review={review} isNewest={index === 0} />
          </li>
        ))}
      </ol>
    </Panel>
  );
}

function OneReview({ review, isNewest }: { review: ChangeReview; isNewest: boolean }) {
  const { kind, verdict, revision, commit, author, body, comments, exitCode, durationMs } = review;
  const facts = [
    commit !== null && shortCommit(commit),
    exitCode !== null && `exit code ${exitCode}`,
    durationMs !== null && formatDuration(durationMs / 1000),
  ].filter((fact) => fact !== false && fact !== null);
  return (
    <article aria-label={`${TITLES[kind]} of revision ${revision}`}>
      <p>
        <Badge state={verdict} word={toLabel(verdict)} /> {TITLES[kind]} of revision {revision},{' '}
        <Ago at={review.createdAt} />
        {kind === 'review' && (
          <>
            , by <Caller of={author} name={review.authorName} />
          </>
        )}{' '}
        <span className="muted">{facts.join(', ')}</span>
      </p>
      {kind === 'review' && body !== '' && <Foreign text={body} />}
      {kind !== 'review' && body !== '' && (
        <details open={isNewest}>
          <summary>Output</summary>
          <Foreign text={body} />
        </details>
      )}
      <ul>
        {comments.map(({ path, line, text }, index) => (
          <li key={index} dir="auto">
            <code>
              {stripControls(path)}:{line}
            </code>{' '}
            {stripControls(text)}
          </li>
        ))}
      </ul>
    </article>
  );
}
