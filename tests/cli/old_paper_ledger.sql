-- A ledger of the running example as PACAS kept it when the paper's quotes were the default.
PRAGMA application_id = 1346454355;
PRAGMA user_version = 1;
PRAGMA journal_mode = wal;
BEGIN TRANSACTION;
CREATE TABLE entry (
        sequence INTEGER PRIMARY KEY,
        previous TEXT NOT NULL,
        hash TEXT NOT NULL,
        buyer TEXT,
        idempotency_key TEXT,
        price INTEGER,
        details TEXT NOT NULL,
        UNIQUE (buyer, idempotency_key)
    );
INSERT INTO "entry" VALUES(0,'0000000000000000000000000000000000000000000000000000000000000000','b1eddc3f71e54c8c5df7a89f81d9c235737b0e7725535d64421ecbc6bb685029',NULL,NULL,NULL,'{"fingerprint":{"hierarchy of AGE":"6ed029bdfc728b1dc0a3d48ddcd3752374f3808719a5162945cce7ce0323b808","hierarchy of MED":"f88ef47095b614e3382d47014d06fea1a682a3b8915c04bb2beb7c3d104e7e93","match":"321b2e3b8f0af45db3f8175b97590c01194fa5a461e801f43546d65dacf5a5ae","policies":"90afff153279d807c7e7e59e9240292175d82e0c5b8308676f450c729c10d649","relation":"a0decbe96757f637e384a3356d1e819adeb4ddf9040d1e979441a3bcdd90c636","support set":"b4f67afac503c1481d264b4a4a06d3aabb89a1a2948e8e66d61695bb0d3b4a57","weights":"59de3222b3a84884ddb5f8de871cf24fbd957803834c1df9bd72ec4371b3c733"},"kind":"opening","seed":"2f7d9b211be9ef05604795ac0dc564ade138d0aebce21a24e8d0a7fb94bba2ad"}');
INSERT INTO "entry" VALUES(1,'b1eddc3f71e54c8c5df7a89f81d9c235737b0e7725535d64421ecbc6bb685029','054c16008221658103a89ad8856925f6cbd0f4e633cf6f5eb8bf031f9fe35ec4','ann','a68ad323e2f0441580549f6d2f3293e2 1',700000000,'{"answer":"NSAID","attribute":"MED","kind":"purchase","level":1,"rows":null,"salt":"07f98090dbb74811f7dbe1e308d64bc2","tuple":{"AGE":"51","GEN":"male"}}');
INSERT INTO "entry" VALUES(2,'054c16008221658103a89ad8856925f6cbd0f4e633cf6f5eb8bf031f9fe35ec4','ff59063153e85d234c359fb7a0693e377a58748d6708f59bcb136cf4986957cf','ann','a68ad323e2f0441580549f6d2f3293e2 2',400000000,'{"answer":"analgesic","attribute":"MED","kind":"purchase","level":2,"rows":null,"salt":"3997c0cf975b841ce95c724ae7ac4bdb","tuple":{"AGE":"45","GEN":"female"}}');
CREATE TABLE head (one INTEGER PRIMARY KEY CHECK (one = 1), entries INTEGER NOT NULL, hash TEXT NOT NULL);
INSERT INTO "head" VALUES(1,3,'ff59063153e85d234c359fb7a0693e377a58748d6708f59bcb136cf4986957cf');
CREATE TABLE total (buyer TEXT PRIMARY KEY, purchases INTEGER NOT NULL, spent INTEGER NOT NULL) WITHOUT ROWID;
INSERT INTO "total" VALUES('ann',2,1100000000);
COMMIT;
