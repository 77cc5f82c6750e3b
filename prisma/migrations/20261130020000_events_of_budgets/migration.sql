-- The ends of a budget's periods beside its alerts. Others wait to write to the journal while the index is made.
CREATE INDEX journal_budgets_idx ON journal (workspace_id, ((details ->> 'budgetId')), id)
  WHERE event IN ('budget.alert', 'budget.ended');
DROP INDEX journal_budget_alerts_idx;
