-- The version of a workspace's prompt template, for If-Match. A sequence counts, so that a template
-- after a reset never has the version of an earlier one.
CREATE SEQUENCE prompt_template_versions_seq AS integer;
ALTER TABLE prompt_templates
  ADD COLUMN version integer NOT NULL DEFAULT nextval('prompt_template_versions_seq');

GRANT USAGE ON SEQUENCE prompt_template_versions_seq TO drover_app;
GRANT UPDATE (version) ON prompt_templates TO drover_app;
