import { usePages } from '../api/read.js';
import { QuestionPanel } from '../components/question-panel.js';
import { Button, Empty, Loaded, Page } from '../components/parts.js';

const EVERY_MS = 10_000;

export function QuestionsPage() {
  const questions = usePages(
    ['questions', 'open'],
    (api, cursor, signal) => {
      const query = { status: 'open' as const, limit: 50, cursor };
      return api.get('/api/v1/questions', { params: { query }, signal });
    },
    { every: EVERY_MS },
  );
  return (
    <Page title="Questions">
      <Loaded query={questions}>
        {({ pages }) => {
          const items = pages.flatMap((page) => page.items);
          if (items.length === 0)
            return (
              <Empty title="No open questions">
                <p>
                  Questions of agents appear here. A task that asks is paused until somebody answers
                  or the deadline passes.
                </p>
              </Empty>
            );
          return (
            <div className="stack">
              {items.map((question) => (
                <QuestionPanel key={question.id} question={question} />
              ))}
            </div>
          );
        }}
      </Loaded>
      {questions.hasNextPage && (
        <Button onClick={() => void questions.fetchNextPage()}>Show more questions</Button>
      )}
    </Page>
  );
}
