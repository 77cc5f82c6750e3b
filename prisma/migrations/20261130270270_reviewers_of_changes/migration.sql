-- The last reviewer of each change from before the column is a part of its cost as well.
UPDATE changes SET review_task_ids = array_append(review_task_ids, review_task_id)
WHERE review_task_id IS NOT NULL AND NOT review_task_id = ANY (review_task_ids);
