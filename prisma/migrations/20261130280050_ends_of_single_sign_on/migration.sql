-- Whether a refresh extends the session. Sessions of single sign-on end a fixed time after the sign-in, so that a
-- user who was removed at the provider loses access.
ALTER TABLE user_sessions ADD COLUMN renews boolean NOT NULL DEFAULT true;
