-- The alerts of a budget, out of the journal that tells them: a row for each step that it has reached.
CREATE INDEX journal_budget_alerts_idx ON journal (workspace_id, ((details ->> 'budgetId')), id) WHERE event = 'budget.alert';
