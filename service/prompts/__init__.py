"""What verdicts say of prompts: how often each is solved, which references seem wrong, which rows are nearly the same.

    collecting     prompts of stored verdicts: audit logs, and what `rewardline score` wrote
    stored_files   which files hold verdicts, and the rows beside them
    label_errors   many independent responses agree on an answer that the reference denies
    duplicates     rows whose prompts are nearly the same
    trainer_rows   rows as Parquet, in the columns of verl, TRL and prime-rl

How often a policy solves each prompt is counted by the watch (`service/watch/pass_rates.py`).
"""
