import type { ChangeReview } from '../domain/changes.js';
import { shortCommit } from '../domain/changes.js';
import { formatDuration, stripControls } from '../domain/format.js';
import { Badge, toLabel } from './badge.js';
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
        {reviews.toReversed().map((review) => (
          <li key={review.id}>
            <OneReview review={review} />
          </li>
        ))}
      </ol>
    </Panel>
  );
}

function OneReview({ review }: { review: ChangeReview }) {
  const { kind, verdict, revision, commit, author, body, comments, exitCode, durationMs } = review;
  const facts = [
    commit !== null && shortCommit(commit),
    exitCode !== null && `exit code ${exitCode}`,
    durationMs !== null && formatDuration(durationMs / 1000),
    kind === 'review' && stripControls(author),
  ].filter((fact) => fact !== false && fact !== null);
  return (
    <article aria-label={`${TITLES[kind]} of revision ${revision}`}>
      <p>
        <Badge state={verdict} word={toLabel(verdict)} /> {TITLES[kind]} of revision {revision},{' '}
        <Ago at={review.createdAt} /> <span className="muted">{facts.join(', ')}</span>
      </p>
      {body !== '' && <Foreign text={body} />}
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
