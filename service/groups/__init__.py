"""Rewards of whole groups: the responses to one prompt are compared with each other.

schemas      the types of requests and answers
classes      which responses give the same answer, by the equality of a verifier
majority     the answer of most responses, and the rewards by it
pairings     who is compared with whom
ratings      numbers from the results of comparisons
tournament   comparisons by judge models
shown        what a judge sees of the responses
listwise     one question to a judge about all responses
embeddings   how unlike responses are by their meaning
terms        what length, style and likeness to the others add
scoring      leads from a request to its answer
singles      groups whose members come one by one
"""
