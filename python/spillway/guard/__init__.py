"""User code in processes of its own: it may crash, leak, hang or be killed, the notebook goes on.

`isolate=True` of a stage runs its function there (`rules`); what can travel is packed by `travel`.
On the other side are `fork_server`, which starts workers, and `worker`, which is one.
"""
