-- The ends of a budget's periods beside its alerts. Others wait to write to the journal while the index is made:
-- it has few rows, but all partitions are read. 1,000,000 rows (371 MB in memory): 0.6 to 1.7 s on a busy machine.
CREATE INDEX journal_budgets_idx ON journal (workspace_id, ((details ->> 'budgetId')), id)
  WHERE event IN ('budget.alert', 'budget.ended');
DROP INDEX journal_budget_alerts_idx;
