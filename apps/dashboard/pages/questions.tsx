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
              <Empty title="Nobody waits for an answer">
                <p>
                  An agent that needs a person asks here, and its task rests until there is an
                  answer.
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
        <Button onClick={() => void questions.fetchNextPage()}>Show more</Button>
      )}
    </Page>
  );
}
