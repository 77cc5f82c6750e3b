-- An account has one subject of an issuer. Servers from before 20261130280000 linked every subject with its address: the
-- oldest link stays, because a later one can be of another person who got the address.
DELETE FROM user_identities i USING user_identities older
 WHERE older.user_id = i.user_id AND older.issuer = i.issuer AND (older.created_at, older.id) < (i.created_at, i.id);
CREATE UNIQUE INDEX user_identities_user_id_issuer_key ON user_identities (user_id, issuer);
DROP INDEX user_identities_user_id_idx;
