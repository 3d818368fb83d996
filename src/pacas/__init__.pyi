"""What the front door offers, each name from the module that defines it; `__init__.py` loads it when asked for it."""

from pacas.client.classes.check import Check, check
from pacas.client.classes.equivalence import EquivalenceClass
from pacas.client.outcome.cleaning import Cleaning
from pacas.client.outcome.explain import Explanation, explain
from pacas.client.outcome.score import Score
from pacas.client.safe_clean import SafeClean
from pacas.core.anonymity import Anonymity, Policy
from pacas.core.criteria.closeness import Closeness
from pacas.core.criteria.distinct import DistinctValues
from pacas.core.criteria.entropy import EntropyDiversity
from pacas.core.criteria.recursive import RecursiveDiversity
from pacas.core.dependency import FunctionalDependency, MatchingDependency
from pacas.core.distance import SemanticDistance
from pacas.core.hierarchy import Hierarchy
from pacas.core.query import GeneralizedQuery
from pacas.core.relation import Relation
from pacas.engine.choosing import SparkEngine as SparkEngine  # not in `__all__`: it needs pyspark
from pacas.engine.choosing import open_engine
from pacas.engine.contract import KeyedFrame
from pacas.engine.files.folder import scan_folder
from pacas.engine.hierarchy_files import read_hierarchy, write_hierarchy
from pacas.engine.questions import anonymity, answer, build_hierarchy, relation_distance, semantic_distance
from pacas.errors import InputError, PacasError, RemoteError
from pacas.formats.relations.relations import read_relation, scan_relation, write_relation
from pacas.formats.report.changes_file import write_changes
from pacas.formats.report.report import write_report
from pacas.opening.client import Client, open_client
from pacas.opening.open_provider import open_provider
from pacas.protocol.messages import Answer, Quote, Refusal, Request
from pacas.provider.provider import Provider
from pacas.provider.quoter.declared import DeclaredDependency, Sealing
from pacas.provider.support.support_set import Generated
from pacas.remote.remote_provider import RemoteProvider
from pacas.remote.verifying import CheckedReceipts, verify
from pacas.suggest.dependencies.search import suggest_dependencies
from pacas.suggest.hierarchies.suggesting import suggest_hierarchies
from pacas.suggest.policies.suggesting import suggest_policy
from pacas.suggest.roles.suggesting import suggest_roles

__all__ = [
    "Anonymity",
    "Answer",
    "Check",
    "CheckedReceipts",
    "Cleaning",
    "Client",
    "Closeness",
    "DeclaredDependency",
    "DistinctValues",
    "EntropyDiversity",
    "EquivalenceClass",
    "Explanation",
    "FunctionalDependency",
    "GeneralizedQuery",
    "Generated",
    "Hierarchy",
    "InputError",
    "KeyedFrame",
    "MatchingDependency",
    "PacasError",
    "Policy",
    "Provider",
    "Quote",
    "RecursiveDiversity",
    "Refusal",
    "Relation",
    "RemoteError",
    "RemoteProvider",
    "Request",
    "SafeClean",
    "Score",
    "Sealing",
    "SemanticDistance",
    "anonymity",
    "answer",
    "build_hierarchy",
    "check",
    "explain",
    "open_client",
    "open_engine",
    "open_provider",
    "read_hierarchy",
    "read_relation",
    "relation_distance",
    "scan_folder",
    "scan_relation",
    "semantic_distance",
    "suggest_dependencies",
    "suggest_hierarchies",
    "suggest_policy",
    "suggest_roles",
    "verify",
    "write_changes",
    "write_hierarchy",
    "write_relation",
    "write_report",
]
